"""What `import recipe_compiler` offers: documents with verbs, results that show themselves."""
