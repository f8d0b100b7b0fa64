import { blockOf, placeOf } from '../../../src/engine/schema.ts'
import { createJson, type Json } from './json.ts'
import { createEventShow } from './show-event.ts'
import { createLogShow, PIECES } from './show-log.ts'
import { createTxShow } from './show-tx.ts'
import type { Source } from './source.ts'
import type { Shown } from './today.ts'

/** Hits written from packed records, the bytes of a page in one buffer. */
export const createPacked = (source: Source) => {
  const show = {
    tx: createTxShow(source),
    log: createLogShow(source),
    event: createEventShow(source),
  } satisfies Record<Shown, (json: Json, number: number, place: number) => void>
  const json = createJson(1 << 22)
  return {
    /** Valid until the next page. */
    page(kind: Shown, positions: readonly number[]): Buffer {
      json.clear()
      const write = show[kind]
      for (let i = 0; i < positions.length; i++) {
        if (i > 0) json.piece(PIECES.comma)
        write(json, blockOf(positions[i]!), placeOf(positions[i]!))
      }
      return json.view()
    },
  }
}
