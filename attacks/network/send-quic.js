/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: send a datagram to port 443, as QUIC does
 * Promise:  no-network
 * Oracle:   network
 * Stops:    ENETUNREACH=namespace
 * Not promised: process=process-network
 */
const socket = require("dgram").createSocket("udp4");
socket.send("secret", 443, "1.0.0.1", (e) => {
	if (e) console.log(`stopped: ${e.code} at send`);
	socket.close();
});
