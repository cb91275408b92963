"""`course review`: what waits for a person, decided in groups on a local page, and remembered.

`decisions` is the store; `apply` makes a decision part of a result; `reading`, `items`, `groups` and `session` are the work behind the page,
`server` the page itself. The grading run asks `decisions` and `apply` alone.
"""
