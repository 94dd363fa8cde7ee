"""Start stages warm: one process imports the heavy libraries once, every stage is a fork of it.

DVC starts a process a stage, and each would spend seconds importing pandas, matplotlib, torch and
transformers twice over, for the runner and for the kernel. Instead the first stage of a `dvc repro`
starts a server that imports them and does nothing else; it ends with that `dvc`. A stage then is

    dvc ── selfpref run (client) ──socket── server ──fork── runner ──fork── kernel

The client hands over its command line, environment, folder, and its standard output and error. The
runner and the kernel are forked from a process that has run no model and started no thread, so the
stages stay as independent as before. If client, runner or DVC die, what hangs on them dies too.
Linux only; elsewhere, and outside `dvc repro`, stages start cold and give the same results.
"""
