"""What a step of finite size samples where U is quadratic: z' = F z + a + N(0, Sigma), and all that follows from it."""
