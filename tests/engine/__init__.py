# SPDX-License-Identifier: Apache-2.0
"""Engines of the tests' own: Docker and Podman, on a socket and in a folder of their own.

An engine runs in a network namespace without a way out and in a mount namespace. So what it
does to the host's network (a bridge, packet filters, ip_forward) and to its mounts it does to
its own, and nothing has to be put back; and no pull can reach a registry but ours.

  api       to ask an engine directly, past Dewar
  images    images made without a registry, kept between runs
  engines   starting and stopping
  registry  one of our own, to pull from

`cd tests && python3 -m engine` has them for people.
"""
