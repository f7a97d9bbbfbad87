/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: reach the Docker daemon by TCP, from where its containers see it
 * Promise:  no-network
 * Oracle:   network
 * Stops:    ENETUNREACH=namespace
 * Not promised: process=process-network
 */
const request = require("http").get("http://172.17.0.1:2375/containers/json", { timeout: 1000 });
request.on("error", (e) => console.log(`stopped: ${e.code} at connect`));
request.on("timeout", () => request.destroy());
