/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: reach the Docker daemon by its socket
 * Promise:  no-network
 * Oracle:   network
 * Stops:    ENOENT=mount
 * Not promised: process=process-sockets
 */
const socket = require("net").connect(process.env.DW_SOCKET);
socket.setTimeout(1000, () => socket.destroy());
socket.on("data", (data) => console.log(String(data)));
socket.on("error", (e) => console.log(`stopped: ${e.code} at connect`));
