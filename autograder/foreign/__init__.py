"""`course run FILE.cu`: somebody's CUDA file on the emulator, in the jail of the challenge lines (jail, foreign_inside), and what is told of it (show)."""
