"""Draws by laws: every fault planted in the text of a draw, in its place in the cycle, or in what makes a normal vector
of normals is found by reading it back."""

import ast
from dataclasses import replace

import pytest
from cycles import Text, texts
from draws import GIBBS, draws_build
from some import some

from recipe_compiler.errors import CompilerError, ModelError
from recipe_compiler.program.canonical import check_canonical
from recipe_compiler.program.canonical_kernel import check_kernel


def text_of(name: str, which: str) -> Text:
    """Return a text with every statement on one line."""
    found = texts(draws_build(name))[which]
    return replace(found, module=replace(found.module, text=ast.unparse(ast.parse(found.module.text))))


@pytest.mark.slow
@pytest.mark.parametrize("name", GIBBS)
def test_texts_as_they_are_emitted_have_no_fault(name: str) -> None:
    for text in texts(draws_build(name)).values():
        assert check_canonical(text.module.program) == ()
        assert check_kernel(text.module.kernel) == ()
        text.read()


# ruff: noqa: E501
FAULTS: dict[str, tuple[str, str, str, str]] = {
    # fault: the build, what stands there, what then does, what is said
    "another shape": ("gibbs_regression", "shape_tau = N / 2.0 + shape", "shape_tau = N + shape", "parameter 1 of the law Gamma of tau"),
    "a shape off by a half": ("gibbs_regression", "N / 2.0 + shape", "N / 2.0 + shape + 0.5", "parameter 1 of the law Gamma"),
    "a shape without the prior": ("gibbs_normal", "shape_tau = N / 2.0 + shape", "shape_tau = N / 2.0", "parameter 1 of the law Gamma"),
    "a lost half in the rate": ("gibbs_regression", "rate + difference_difference / 2.0", "rate + difference_difference", "the draw of tau"),
    "a rate without the prior": ("gibbs_normal", "rate_tau = rate + diff", "rate_tau = diff", "the draw of tau"),
    "a rate for a scale": ("gibbs_regression", "log_G_tau - math.log(rate_tau)", "log_G_tau + math.log(rate_tau)", "the draw of tau"),
    "no logarithm of the rate": ("gibbs_regression", "log_G_tau - math.log(rate_tau)", "log_G_tau - rate_tau", "the draw of tau"),
    "the draw itself for its logarithm": ("gibbs_regression", "log_tau_drawn[0] = log_G_tau", "log_tau_drawn[0] = _exp(log_G_tau)", "the draw of tau"),
    "an exponential for a gamma": ("gibbs_regression", "_next_log_gamma(shape_tau, ", "_next_uniform(", "expected Gamma"),
    "the old tau": ("gibbs_regression", "log_tau_drawn[0] = log_G_tau", "log_tau_drawn[0] = log_tau[0] + log_G_tau", "the draw of tau"),
    "one residual too few": ("gibbs_regression", "for i in range(N):\n        difference_difference", "for i in range(N - 1):\n        difference_difference", "the draw of tau"),
    "words that were taken": ("gibbs_regression", "log_G_tau, s0, s1, s2, s3 = _next", "log_G_tau, t0, t1, t2, t3 = _next", "the last words of its stream"),
    "words in another order": ("gibbs_regression", "(shape_tau, s0, s1, s2, s3)", "(shape_tau, s1, s0, s2, s3)", "not the last of the stream"),
    "words that are not left": ("gibbs_regression", "noise_state[3] = (s0, s1, s2, s3)", "noise_state[3] = (s0, s0, s2, s3)", "the last words of its stream"),
    "a block overwritten": ("gibbs_regression", "log_tau_drawn = theta_tau[2:3]", "log_tau_drawn = theta_tau[1:2]", "which is none of tau"),
    "another part of the block": ("gibbs_regression", "beta_drawn = theta_beta[0:2]", "beta_drawn = theta_beta[1:3]", "which is none of beta"),
    "a rest that is not kept": ("gibbs_regression", "theta_beta[i] = theta[i]", "theta_beta[i] = 0.0", "which is none of beta"),
    "another block as beta": ("gibbs_regression", "beta = theta[0:2]\n    log_tau = theta[2:3]\n    log_tau_drawn", "beta = theta[1:3]\n    log_tau = theta[2:3]\n    log_tau_drawn", "the draw of tau"),
    "no exp of log tau": ("gibbs_regression", "_exp(log_tau[0])", "(log_tau[0])", "u[0] of the law of beta"),
    "a precision without the prior": ("gibbs_regression", "exp_of_state * x_x[i, j] + inv_S[i, j]", "exp_of_state * x_x[i, j]", "P[0,0] of the law of beta"),
    "a transposed sum": ("gibbs_regression", "total += x[k, i] * x[k, j]", "total += x[k, i] * x[k, i]", "P[1,0] of the law of beta"),
    "a matrix for its inverse": ("gibbs_regression", "inv_S = np.linalg.inv(S)", "inv_S = S + 0.0", "of the law of beta"),
    "a u without y": ("gibbs_regression", "total += x[j, i] * y[j]", "total += x[j, i]", "u[0] of the law of beta"),
    "a covariance for a precision": ("gibbs_regression", "    _normal_by_precision(u_beta", "    _normal_by_covariance(u_beta", ""),
    "the old beta": ("gibbs_regression", "    _normal_by_precision(u_beta, P_beta, noise_beta, beta_drawn)", "    _normal_by_precision(u_beta, P_beta, noise_beta, beta_drawn)\n    beta_drawn[0] = beta[0]", "does not leave in beta"),
    "drawn twice": ("gibbs_regression", "    _normal_by_precision(u_beta, P_beta, noise_beta, beta_drawn)", "    _normal_by_precision(u_beta, P_beta, noise_beta, beta_drawn)\n    _normal_by_precision(u_beta, P_beta, noise_beta, beta_drawn)", "2 times"),
    "a normal used twice": ("gibbs_normal", "* noise_mu[0]", "* noise_mu[0] + noise_mu[0]", "the draw of mu"),
    "a variance for a deviation": ("gibbs_normal", "math.sqrt(variance_mu) * noise_mu[0]", "variance_mu * noise_mu[0]", "the draw of mu"),
    "a state that is changed in place": ("gibbs_regression", "    x_beta_2[i] = total", "    x_beta_2[i] = total\n        theta[0] = total", ""),
    "L for L^-T": ("gibbs_regression", "out[i] += -P[j, i] * out[j]", "out[i] += -P[i, j] * out[j]", "has not set: P[i, j]"),
    "a solve that is left out": ("gibbs_regression", "out[i] = out[i] / P[i, i]\n    for i in range(size):\n        out[i] += noise[i]", "out[i] = out[i]\n    for i in range(size):\n        out[i] += noise[i]", "writes no draw of the law"),
    "noise before the first solve": ("gibbs_regression", "out[i] = u[i]", "out[i] = u[i] + noise[i]", "writes no draw of the law"),
    "no square root of the pivot": ("gibbs_regression", "pivot = math.sqrt(S[j, j])", "pivot = S[j, j]", "writes no draw of the law"),
    "a gamma draw by the shape of another entry": ("families", "shape_g = a[i]", "shape_g = a[1]", "parameter 1 of the law Gamma of g[0]"),
    "a scale for a rate": ("families", "math.log(scale_h) - log_G_h", "log_G_h - math.log(scale_h)", "the draw of h"),
    "a mean for a rate": ("families", "math.log(E_e) - math.log(rate_e)", "math.log(E_e) + math.log(rate_e)", "the draw of e"),
    "a variate that is not drawn anew": ("families", "log_F_b, s0, s1, s2, s3 = _next_log_gamma(b_b, s0, s1, s2, s3)", "log_F_b = log_G_b", "takes 1 variates"),
    "1 - X of a beta": ("families", "log_G_b - log_F_b", "log_F_b - log_G_b", "the draw of b"),
    "a uniform without its odds": ("families", "math.log(u_w) - math.log(1.0 - u_w)", "math.log(u_w)", "the draw of w"),
    "another row of the covariance": ("families", "cov_n[i, j] = C[i, j]", "cov_n[i, j] = C[i, i]", "the covariance[1,0] of the law of n"),
    "no decay of what was": ("cir", "factor_g = _exp(-rate_g * eps) / scale_g", "factor_g = 1.0 / scale_g", "parameter 2 of the variate Gamma of count of g[0]"),
    "a decay without its rate": ("cir", "_exp(-rate_g * eps) / scale_g", "_exp(-eps) / scale_g", "parameter 2 of the variate Gamma of count of g[0]"),
    "a time without its rate": ("cir", "_exprel(-rate_g * eps)", "_exprel(-eps)", "parameter 2 of the variate Gamma of count of g[0]"),
    "half of the count": ("cir_of_a_scalar", "mean_tau = _exp(log_tau[0]) * factor_tau", "mean_tau = _exp(log_tau[0]) * factor_tau / 2.0", "parameter 2 of the variate Gamma of count of tau"),
    "no exp of what was": ("cir_of_a_scalar", "mean_tau = _exp(log_tau[0])", "mean_tau = log_tau[0]", "parameter 2 of the variate Gamma of count of tau"),
    "one degree of freedom more": ("cir", "_next_log_gamma_of_count(shape_g, ", "_next_log_gamma_of_count(shape_g + 0.5, ", "parameter 1 of the variate Gamma of count of g[0]"),
    "no scale": ("cir", "log_G_g + math.log(scale_g)", "log_G_g", "the draw of g[0]"),
    "the rate for the scale": ("cir", "log_G_g + math.log(scale_g)", "log_G_g - math.log(rate_g)", "the draw of g[0]"),
    "a count that is lost": ("cir", "_next_log_gamma_of_count(shape_g, mean_g, s0", "_next_log_gamma(shape_g, s0", "draws from Gamma for g[0], expected Gamma of count"),
    "the value of another entry": ("cir", "_exp(log_g[i]) * factor_g", "_exp(log_g[0]) * factor_g", "parameter 2 of the variate Gamma of count of g[1]"),
    "a rate of the block before the draw": ("cir", "flow_g(theta_g, theta_s, ", "flow_g(theta_g, theta, ", "the theta that g is drawn at"),
    "a batch for all data": ("cir_minibatch", "N * shape_g[i] / batch_size", "shape_g[i]", "parameter 1 of the variate Gamma of count of g[0]"),
    "a prior that is scaled, too": ("cir_minibatch", "a[i] + N * shape_g[i] / batch_size", "N * (a[i] + shape_g[i]) / batch_size", "parameter 1 of the variate Gamma of count of g[0]"),
    "places for rows": ("cir_minibatch", "row = batch[b_2]", "row = b_2", "parameter 1 of the variate Gamma of count of g[0]"),
    "a batch that is not started at 0": ("cir_minibatch", "shape_g[i] = 0.0", "shape_g[i] = 1.0", "parameter 1 of the variate Gamma of count of g[0]"),
    "another minibatch": ("cir_minibatch", "    flow_g(theta_g, theta, a, z, batch, ", "    flow_g(theta_g, theta, a, z, batch[0:1], ", "another batch than its own"),
    "sums of other data": ("gibbs_regression", "    sums(x_y, x_x, x, y)", "    sums(x_y, x_x, x, x)", "sums another y than its own"),
    "sums in each other's place": ("gibbs_regression", "    draw_beta(theta_beta, theta, inv_S, inv_S_m, x, x_y, x_x, ", "    draw_beta(theta_beta, theta, inv_S, inv_S_m, x, inv_S_m, x_x, ", "another x_y than its own"),
    "sums that are not made": ("gibbs_regression", "    sums(x_y, x_x, x, y)\n", "", "does not compute what stays the same"),
    "a stale beta": ("gibbs_regression", "draw_tau(theta_tau, theta_beta, ", "draw_tau(theta_tau, theta, ", "the theta that tau is drawn at"),
    "a draw that is left out": ("gibbs_regression", "    draw_tau(theta_tau, theta_beta, ", "    draw_beta(theta_tau, theta_beta, ", ""),
    "moves in another order": ("hmc_between", "draw_tau(theta_tau, theta_next, ", "draw_tau(theta_tau, theta_beta, ", "the theta that tau is drawn at"),
    "the noise of another draw": ("hmc_between", "x, x_y, x_x, noise_beta, u_beta, P_beta)\n    for", "x, x_y, x_x, noise_r, u_beta, P_beta)\n    for", "other normals"),
    "the gradient before the draw": ("hmc_between", "gradient(grad_U_start, theta_beta, ", "gradient(grad_U_start, theta, ", "evaluated anew at"),
    "U before the draw": ("hmc_between", "U_at = potential(theta_beta, ", "U_at = potential(theta, ", "the theta that H is evaluated at"),
    "U of the end where it starts": ("hmc_between", "U_start[0] = U_at", "U_start[0] = 0.0", "U where a trajectory starts"),
    "a gradient that is not evaluated": ("hmc_first", "    gradient(grad_U_start, theta, ", "    gradient(grad_U_new, theta, ", ""),
    "a refusal to the state before the draw": ("hmc_between", "theta_at[i] if accept else theta_beta[i]", "theta_at[i] if accept else theta[i]", "what is left of theta"),
    "a trajectory from before the draw": ("hmc_between", "theta_at[i] = theta_beta[i]", "theta_at[i] = theta[i]", "the theta that a step is given"),
    "a draw before the last": ("twice", "draw_tau_2(theta_tau_, theta_beta, ", "draw_tau_2(theta_tau_, theta_tau, ", "the theta that tau is drawn at"),
    "a draw that is always done": ("every", "due_3 = _is_due(cycles[0], 3)", "due_3 = _is_due(cycles[0], 1)", "which none of its moves is"),
    "a draw where it is not due": ("every", "    else:\n        for i in range(3):\n            theta_beta[i] = theta[i]", "    else:\n        draw_tau(theta_beta, theta, shape, rate, x, y, noise_state, x_beta_3)", ""),
    "another block where a draw is not due": ("every", "    else:\n        for i in range(3):\n            theta_beta[i] = theta[i]", "    else:\n        for i in range(3):\n            theta_beta[i] = theta[0]", "theta, which is not due"),
    "logits without the weights": ("mixture", "log_theta[j] - (y[i] - mu[j]) ** 2", "-(y[i] - mu[j]) ** 2", "logit 0 of z[0]"),
    "logits without the half": ("mixture", "(2.0 * variance)", "variance", "logit 0 of z[0]"),
    "the datum of another row": ("mixture", "log_theta[j] - (y[i]", "log_theta[j] - (y[0]", "logit 0 of z[1]"),
    "the mean of another place": ("mixture", "- mu[j]) ** 2", "- mu[0]) ** 2", "logit 1 of z[0]"),
    "a one at another place": ("mixture", "1.0 if j == k_z", "1.0 if j == 0", "does not put the one of z[1]"),
    "no zeros elsewhere": ("mixture", "(1.0 if j == k_z else 0.0)", "1.0", "does not put the one of z[0]"),
    "a row of another datum": ("mixture", "z_drawn[i, j] = ", "z_drawn[0, j] = ", ""),
    "one place for all rows": ("mixture", "        k_z, s0, s1, s2, s3 = _next", "        k_z, t0, t1, t2, t3 = _next", ""),
    "sums for logits": ("mixture", "_next_categorical(logits_z, sums_z, ", "_next_categorical(sums_z, logits_z, ", "logits that are not set"),
    "the old allocations": ("mixture", "else 0.0) + 0.0 * k_z", "else 0.0) + z[i, j]", "does not put the one of z[0]"),
    "the logarithm of the other share": ("sticks", "sum_softplus += _softplus(logit_v[i])", "sum_softplus += _softplus(-logit_v[i])", "the draw of alpha"),
    "a logarithm of another sign": ("sticks", "rate_alpha = b2 + sum_softplus", "rate_alpha = b2 - sum_softplus", "the draw of alpha"),
    "users before for those beyond": ("sticks", "before[j, i]", "before[i, j]", "of the law Beta of v[0]"),
    "levels below one": ("slices", "level_z += z[i, j] * log_w_z[j]", "level_z += 0.0", "the level of z[0]"),
    "a level below the weight of another place": ("slices_of_data", "level_z += z[i, j] * log_w_z[j]", "level_z += z[i, j] * log_w_z[0]", "the level of z[0]"),
    "a level below another row's weight": ("slices", "level_z += z[i, j] * log_w_z[j]", "level_z += z[0, j] * log_w_z[j]", "the level of z[1]"),
    "a level above the weight": ("slices", "level_z += -E_z", "level_z += E_z", "the level of z[0]"),
    "a level at the weight": ("slices", "level_z += -E_z", "level_z += 0.0", "the level of z[0]"),
    "a level that does not begin at 0": ("slices", "level_z = 0.0", "level_z = 1.0", "the level of z[0]"),
    "a uniform number for its logarithm": ("slices", "_next_exponential(s0", "_next_uniform(s0", "draws from Uniform for the level of z[0]"),
    "weights left in the logits": ("slices", "logits_z[j] = -one[i]", "logits_z[j] = log_w_z[j] - one[i]", "logit 0 of z[0]"),
    "half of a choice": ("slices", "logits_z[j] = -one[i] * _softplus(-logit_p[j])", "logits_z[j] = 0.0", "logit 0 of z[0]"),
    "places below the level": ("slices", "_reaches(log_w_z[j], level_z)", "_reaches(level_z, log_w_z[j])", "what is compared with the level of z[0]"),
    "places above another level": ("slices", "_reaches(log_w_z[j], level_z)", "_reaches(log_w_z[j], left_z)", "the level that place 0 of z[0] is compared with"),
    "all places": ("slices", "_next_categorical_above(logits_z, log_w_z, level_z, sums_z, ", "_next_categorical(logits_z, sums_z, ", ""),
    "drawn above another level": ("slices", "log_w_z, level_z, sums_z, s0", "log_w_z, left_z, sums_z, s0", "the level of z[0]"),
    "drawn by other heights": ("slices", "(logits_z, log_w_z, level_z, sums_z, s0", "(logits_z, before_softplus, level_z, sums_z, s0", "is drawn above its level by"),
    "weights of other sticks": ("slices", "before[i, j] * _softplus(logit_v[j])", "before[i, j] * _softplus(-logit_v[j])", "of z[0]"),
    "weights of the first datum": ("slices_of_data", "log_w_z[j] = -(y[i] - mu[j])", "log_w_z[j] = -(y[0] - mu[j])", "of z[1]"),
    "what is left of another stick": ("slices", "left_z = -sum_softplus_2", "left_z = sum_softplus_2", "what is left beside the places of z"),
    "a level that is not compared": ("slices", "below_z = _told_below(below_z, level_z, left_z)", "below_z = below_z + 0.0", "does not compare the level of z[0]"),
    "what rows before told": ("slices", "_told_below(below_z, level_z", "_told_below(0.0, level_z", "forgets what was told of rows before z[1]"),
    "another level told": ("slices", "_told_below(below_z, level_z", "_told_below(below_z, E_z", "the level of z[0] that is compared with what is left"),
    "nothing told": ("slices", "too_few_z[0] = below_z", "too_few_z[0] = 0.0", "tells another number"),
    "a place drawn before the level": ("slices", "        E_z, s0, s1, s2, s3 = _next_exponential(s0, s1, s2, s3)\n        level_z += -E_z\n", "        level_z += -1.0\n", "expected a level and a place"),
    "a count that is not told": ("slices", "too_few[0] = too_few_z[0]", "too_few[0] = 0.0", "how many draws had too few places"),
    "one count of two": ("slices_of_data", "too_few[0] = too_few_z[0] + too_few_z_[0]", "too_few[0] = too_few_z_[0]", "how many draws had too few places"),
    "a count where a draw is not due": ("slices_of_data", "        too_few_z[0] = 0.0", "        too_few_z[0] = 1.0", "not due, tells"),
    "a stale allocation": ("slices_of_data", "draw_z_2(theta_z_, too_few_z_, theta_z, ", "draw_z_2(theta_z_, too_few_z_, theta_mu, ", "the theta that z is drawn at"),
    "a count that is not added up": ("slices", "too_few_sum += too_few[0]", "too_few_sum += 0.0", "add up its too_few"),
    "one row of one": ("one_of_three", "1.0 if i == k_k", "1.0 if i == 1", "does not put the one of k"),
    "other logits of one": ("one_of_three", "        logits_k[i] = a[i]", "        logits_k[i] = a[2]", "logit 0 of k"),
    "the mean of those caught": ("removal", "(1.0 - sigmoid_of_state_2) ** 3", "sigmoid_of_state_2 ** 3", "parameter 1 of the law Poisson of left[0]"),
    "a power too few": ("removal", "(1.0 - sigmoid_of_state_2) ** 3", "(1.0 - sigmoid_of_state_2) ** 2", "parameter 1 of the law Poisson of left[0]"),
    "the area of the first site": ("removal", "mean_left = area[i]", "mean_left = area[0]", "parameter 1 of the law Poisson of left[1]"),
    "one count more": ("removal", "left_drawn[i] = count_left", "left_drawn[i] = count_left + 1.0", "the draw of left[0]"),
    "the old count": ("removal", "left_drawn[i] = count_left", "left_drawn[i] = left[i]", "the draw of left[0]"),
    "one count for all sites": ("removal", "count_left, s0, s1, s2, s3 = _next", "count_left, t0, t1, t2, t3 = _next", ""),
    "a gamma for a count": ("removal", "_next_poisson(mean_left, ", "_next_log_gamma(mean_left, ", "draws from Gamma for left[0], expected Poisson"),
    "counts before the draw": ("removal", "draw_left(theta_left, theta_p, ", "draw_left(theta_left, theta_mu, ", "the theta that left is drawn at"),
    "the counts that are left out": ("removal", "sum_catch3 + sum_left", "sum_catch3", "parameter 1 of the law Gamma of mu"),
    "the trials of the first datum": ("signal", "n_k = y[i]", "n_k = y[0]", "parameter 1 of the law Binomial of k[1]"),
    "the background's share": ("signal", "1.0 / (exp_of_state_6 + 1.0)", "exp_of_state_6 / (exp_of_state_6 + 1.0)", "parameter 2 of the law Binomial of k[0]"),
    "trials and share in each other's place": ("signal", "_next_binomial(n_k, p_k, ", "_next_binomial(p_k, n_k, ", "parameter 1 of the"),
    "a count of the signal and one more": ("signal", "k_drawn[i] = count_k", "k_drawn[i] = count_k + 1.0", "the draw of k[0]"),
    "counts that are left out": ("mixture_weights", "alpha_w = alpha[i] + sum_z[i]", "alpha_w = alpha[i]", "parameter 1 of the law Dirichlet of w[0]"),
    "counts without the prior": ("mixture_weights", "alpha_w = alpha[i] + sum_z[i]", "alpha_w = sum_z[i]", "parameter 1 of the law Dirichlet of w[0]"),
    "counts of another component": ("mixture_weights", "alpha_w = alpha[i] + sum_z[i]", "alpha_w = alpha[i] + sum_z[0]", "parameter 1 of the law Dirichlet of w[1]"),
    "a shape off by one": ("shares", "alpha_w = a[i] + x_x_2 / 2.0", "alpha_w = a[i] + x_x_2 / 2.0 - 1.0", "parameter 1 of the law Dirichlet of w[0]"),
    "a gamma for its logarithm": ("mixture_weights", "= log_G_w[i] + level_w", "= _exp(log_G_w[i]) + level_w", "the draw of w[0]"),
    "uniform shares": ("shares", "_next_log_gamma(alpha_w, s0", "_next_uniform(s0", "expected a Gamma a share and an N"),
    "one gamma for all shares": ("shares", "log_G_w[i] + level_w", "log_G_w[0] + level_w", "the draw of w[1]"),
    "a total that is not emptied": ("shares", "total_w = 0.0", "total_w = 1.0", "the draw of w[0]"),
    "a total of the last gamma": ("shares", "total_w += log_G_w[i]", "total_w = log_G_w[i]", "the draw of w[0]"),
    "a mean over other shares": ("shares", "total_w / 3.0", "total_w / 2.0", "the draw of w[0]"),
    "a level that is not drawn": ("shares", "level_w = n_w / math.sqrt(3.0) - total", "level_w = -total", "the draw of w[0]"),
    "a level of another variance": ("shares", "n_w / math.sqrt(3.0)", "n_w / 3.0", "the draw of w[0]"),
    "a level of its own for each share": ("shares", "log_G_w[i] + level_w", "log_G_w[i] + level_w * i", "the draw of w[0]"),
    "a negative logarithm": ("shares", "= log_G_w[i] + level_w", "= -log_G_w[i] + level_w", "the draw of w[0]"),
    "the words of the last gamma": ("shares", "n_w, s0, s1, s2, s3 = _next_normal(", "n_w, t0, t1, t2, t3 = _next_normal(", "the last words of its stream"),
    "variables for the shares": ("mixture_weights", "log_w[j] - (y[i]", "w[j] - (y[i]", "logit 0 of z[0]"),
    "a logarithm that is not over the sum": ("mixture_weights", "log_w[1] = simplex_w_2[1] - (w_largest_2 + math.log(w_total_2))", "log_w[1] = simplex_w_2[1] - w_largest_2", "logit 1 of z[0]"),
    "the logarithm of another share": ("mixture_weights", "log_w[1] = simplex_w_2[1] -", "log_w[1] = simplex_w_2[0] -", "logit 1 of z[0]"),
    "shares before the draw": ("mixture_weights", "draw_z(theta_z, theta_mu, ", "draw_z(theta_z, theta, ", "the theta that z is drawn at"),
    "the largest forgotten": ("shares", "w_total_2 = w_part_0_2 + w_part_1_2 + w_part_2_2", "w_total_2 = w_part_0_2 + w_part_1_2", "the covariance[0,0] of the law of x"),
    "a word from before the shares": ("hmc_of_shares", "gradient(grad_U_start, theta_w, ", "gradient(grad_U_start, theta, ", "evaluated anew at"),
    "a mean of the variables of a set": ("sets", "mean_x[i] = R_c", "mean_x[i] = c[i] + 0.0 * R_c", "the mean[0] of the law of x"),
    "another stream": ("gibbs_regression", "shape, rate, x, y, noise_state, x_beta_2)\n\ndef prepare", "shape, rate, x, y, noise_state + noise_state, x_beta_2)\n\ndef prepare", "own stream"),
}  # fmt: skip


OF_RUN = ("sums of other data", "sums that are not made", "a count that is not added up")
"""Faults of the loop, which is read of the text that is shipped."""
OF_PLACES = (
    "the mean of another place", "a one at another place", "no zeros elsewhere", "users before for those beyond",
    "counts of another component", "the area of the first site", "the trials of the first datum", "a level below the weight of another place", "a level below another row's weight",
    "places below the level", "weights of other sticks", "weights of the first datum",
    "a logarithm that is not over the sum", "the logarithm of another share",
)  # fmt: skip
"""Faults that rows of two places have: the last of the small texts has rows of one."""


@pytest.mark.parametrize("fault", some(FAULTS, 6))
def test_a_planted_fault_is_found(fault: str) -> None:
    name, old, new, says = FAULTS[fault]
    for which in ("shipped",) if fault in OF_RUN + OF_PLACES else ("scheduled", "shipped"):
        text = text_of(name, which)
        assert old in text.module.text, which
        changed = text.module.text.replace(old, new, 1)
        ast.parse(changed)
        with pytest.raises((CompilerError, ModelError)) as error:
            text.read(replace(text.module, text=changed))
        assert says in str(error.value), (which, str(error.value))
