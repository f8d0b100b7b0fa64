import type { Kind, RowKind } from '../../mapping/index.ts'
import { present } from '../../sqlite/damage.ts'
import type { Reader } from '../reader.ts'
import { createBlockShow } from './block.ts'
import { createCallShow } from './call.ts'
import { type Context, createContext } from './context.ts'
import { createEventShow } from './event.ts'
import { createLogShow } from './log.ts'
import { createRowShows } from './rows.ts'
import type { Show, Shows } from './show.ts'
import { createTraceShow } from './trace.ts'
import { createTxShow } from './tx.ts'

const known = new WeakMap<Reader, Shows>()

/** How each kind is shown. All share these: who finds a document writes it before another is found. */
export const showsOf = (reader: Reader): Shows => {
  let shows = known.get(reader)
  if (!shows) {
    shows = createShows(reader)
    known.set(reader, shows)
  }
  return shows
}

const createShows = (reader: Reader): Shows => {
  const address = reader.prepare('SELECT bytes FROM address WHERE id = ?').pluck()
  const context = createContext({
    ...{ records: reader.records, name: reader.name, signature: reader.signature },
    addressDigits: reader.addressDigits,
    addressBytes: id => present(address.get(id) as Buffer | undefined, 'the number of an address'),
  })
  return { ...createRecordShows(context), ...createRowShows(context, reader) }
}

/** How the kinds are shown that lie in records. */
export const createRecordShows = (context: Context): Record<Exclude<Kind, RowKind>, Show> => {
  return {
    block: createBlockShow(context),
    tx: createTxShow(context),
    log: createLogShow(context),
    event: createEventShow(context),
    trace: createTraceShow(context),
    call: createCallShow(context),
  }
}
