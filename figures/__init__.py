"""Figures of the course: one script a figure, drawn from measured data in figures/data or from data the script computes.

python -m figures            draws every figure into its lesson's assets/, in both languages
python -m figures --check    says which committed figures are out of date, and exits 1 if any is
"""
