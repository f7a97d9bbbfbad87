# SPDX-License-Identifier: Apache-2.0
#
# R as a zygote. This text lies where the code will be: R reads a file as it goes,
# line by line, and behind our last one it comes, in a child, to the cell's own
# file. So what follows must be one line in the end. A folder for temporary files
# was made when R started; in the cell there is none yet.
local({ gc(); dyn.load("/tmp/.dewar/zygote.so"); tempdir(TRUE); invisible() })
