"""How the reader of answers is made: base weights, labelled answers, training on a GPU, export. Nothing here runs when a class is graded."""
