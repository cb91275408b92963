"""Doing a lesson in its page: the exercise and the own case checked by Python in the browser, hints, answers, export and import.

The page's scripts are in site/assets/do; this package makes what they read (data.py), puts it into the built pages (put.py) and holds the
Python that the browser runs (page.py and numpy_page.py, in MicroPython).
"""
