import type { ServerResponse } from 'node:http'
import type { Log } from '../lib/log.ts'
import type { Pieces } from '../search/service.ts'

/**
 * Writes a long answer to its connection, each piece when the one before is out, since its memory is then used anew. One that fails half-way
 * breaks its connection: that is the only way left to tell the client that what it got is not all.
 */
export const sendPieces = async (
  outgoing: ServerResponse,
  { next, cancel, signal }: Pieces,
  { log, path }: { log: Log; path: string },
): Promise<void> => {
  const { promise: broken, resolve: breaks } = Promise.withResolvers<void>()
  let isBroken = false
  outgoing.once('close', () => {
    isBroken = true
    breaks()
    cancel()
  })
  const fail = (error: unknown) => {
    // A search that stops because its client went away is not an error.
    if (isBroken) return
    log.error('Failed in the middle of an answer', { path, error })
    outgoing.destroy()
  }
  // Also while its client does not read.
  signal.addEventListener('abort', () => fail(signal.reason), { once: true })
  try {
    for (let piece = await next(); piece && !outgoing.destroyed; piece = await next())
      await Promise.race([written(outgoing, piece), broken])
    outgoing.end()
  } catch (error) {
    if (!signal.aborted) fail(error)
  }
}

/** Resolves also where the connection breaks, which `close` tells. */
const written = (outgoing: ServerResponse, piece: Uint8Array): Promise<void> =>
  new Promise(resolve => {
    outgoing.write(piece, () => resolve())
  })
