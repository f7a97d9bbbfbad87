/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: fetch a page from the internet
 * Promise:  no-network
 * Oracle:   network
 * Stops:    ENETUNREACH=namespace
 * Not promised: process=process-network
 */
fetch("http://1.1.1.1/", { signal: AbortSignal.timeout(1500) })
	.then((answer) => answer.text())
	.then(console.log)
	.catch((e) => console.log(`stopped: ${e.cause?.code ?? e} at fetch`));
