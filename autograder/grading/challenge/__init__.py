"""The challenge line of a submission: read from its notebook (line), compiled and run in a jail (jail, inside), judged here (judge). It earns no points."""
