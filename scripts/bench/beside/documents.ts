import { createWriteStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Kind } from '../../../src/mapping/index.ts'
import { hitsIn } from '../hits.ts'
import { openStream, type Server } from '../serving.ts'

/** Documents as we answer them, ready to be sent to OpenSearch. */

/** Of these, all documents go into both. */
export const ENTITIES = ['block', 'tx', 'log', 'event'] as const satisfies Kind[]

export interface DocumentFile {
  entity: (typeof ENTITIES)[number]
  /** Lines for `_bulk`: an action and a document each. */
  path: string
  documents: number
}

/** Asks the server for everything that it holds. */
export const writeDocuments = async (server: Server, folder: string): Promise<DocumentFile[]> => {
  const files: DocumentFile[] = []
  for (const entity of ENTITIES) {
    const path = join(folder, `${entity}.bulk`)
    let documents = 0
    const lines = async function* () {
      for await (const hit of hitsIn(openStream(server, entity, {}))) {
        documents++
        yield* linesOf(hit)
      }
    }
    await pipeline(Readable.from(lines(), { objectMode: true, highWaterMark: 64 }), createWriteStream(path))
    files.push({ entity, path, documents })
  }
  return files
}

/** The bytes of `_source` stay: numbers of 64 bits would not pass through JSON.parse. */
export const linesOf = (hit: Buffer): [action: Buffer, source: Buffer] => {
  const at = hit.indexOf(SOURCE)
  const id = /"_id":"([^"]+)"/.exec(hit.toString('latin1', 0, at))?.[1]
  if (at < 0 || id === undefined) throw new Error(`a hit has no _source or no _id: ${hit.toString('utf8', 0, 500)}`)
  const source = hit.subarray(at + SOURCE.length, -1)
  return [Buffer.from(`${ACTION}${id}"}}\n`), Buffer.concat([source, LINE_END])]
}

const SOURCE = Buffer.from('"_source":')
const ACTION = '{"index":{"_id":"'
const LINE_END = Buffer.from('\n')
// No document has a line feed in it: they are escaped in JSON.
const NEXT = Buffer.from(`\n${ACTION}`)

/** Parts of a file, of whole documents, of at most about so many bytes where no document is larger. */
export async function* bodiesIn(path: string, bytes: number): AsyncGenerator<Buffer, undefined> {
  const file = await open(path)
  try {
    let rest: Buffer = Buffer.alloc(0)
    for (;;) {
      const piece = Buffer.allocUnsafe(Math.max(bytes - rest.length, bytes >> 3))
      const { bytesRead } = await file.read(piece)
      const text = Buffer.concat([rest, piece.subarray(0, bytesRead)])
      if (bytesRead === 0) {
        if (text.length > 0) yield text
        return
      }
      const end = text.lastIndexOf(NEXT) + 1
      if (end > 0) yield text.subarray(0, end)
      rest = text.subarray(end)
    }
  } finally {
    await file.close()
  }
}
