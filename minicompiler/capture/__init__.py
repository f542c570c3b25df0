"""(the stage's helper writes: one line, then In / Out / Invariant)"""
