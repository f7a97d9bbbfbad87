# SPDX-License-Identifier: Apache-2.0
#
# R as a zygote. This text lies where the code will be: R reads a file as it goes,
# line by line, and behind our last one it comes, in a child, to the cell's own
# file. So what follows must be one expression on the last lines.
#
# What R's functions are made of is loaded when they are first used, so some are.
# A folder for temporary files was made when R started; in the cell there is none.
local({
  sink(nullfile())
  print(list(1:3, "a", data.frame(x = 1)))
  cat(paste0("x", format(Sys.time())), sprintf("%d", 1L), "\n")
  sink()
  gc()
  dyn.load("/tmp/.dewar/zygote.so") # from here on we are in the child
  tempdir(TRUE)
  .C("dewar_wait") # from here on it is the caller's time
  invisible()
})
