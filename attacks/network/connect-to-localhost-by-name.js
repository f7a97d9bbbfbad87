/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: reach a service of the host by the name localhost
 * Promise:  no-network
 * Oracle:   network
 * Options:  --timeout 2s
 * Stops:    ECONNREFUSED=namespace
 * Not promised: process=process-network
 * Because:  the cell's own loopback answers, and no process listens there
 */
const socket = require("net").connect({
	host: "localhost",
	port: Number(process.env.DW_PORT),
	autoSelectFamily: false,
});
socket.setTimeout(1000, () => socket.destroy());
socket.on("data", (data) => console.log(String(data)));
socket.on("error", (e) => console.log(`stopped: ${e.code} at connect`));
