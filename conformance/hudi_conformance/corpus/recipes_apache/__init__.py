"""Recipes: how each table of the corpus that Apache Hudi wrote was made.

A recipe is a function that drives a released bundle. It ran once; the bytes it left are kept and never regenerated.
"""
