"""What the command line does beside calling one function of a room.

run         a notebook with the parameters of its stage, by papermill
ceiling     how many calls and tokens the stages ask at most
"""
