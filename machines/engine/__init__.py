"""Running a spec: machines compiled to tables, calls as a tree of frames, and the sans-IO session around them."""
