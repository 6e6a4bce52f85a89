"""The parts of the study of optimal l+-diversity (Liu and Wang, ICDE 2010): tables, runs and one module per finding."""
