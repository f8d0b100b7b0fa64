import type { Reader } from '../reader.ts'
import { createBlockShow } from './block.ts'
import { createCallShow } from './call.ts'
import { createContext } from './context.ts'
import { createEventShow } from './event.ts'
import { createLogShow } from './log.ts'
import { createRowShows } from './rows.ts'
import type { Shows } from './show.ts'
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
  const context = createContext(reader)
  return {
    block: createBlockShow(context),
    tx: createTxShow(context),
    log: createLogShow(context),
    event: createEventShow(context),
    trace: createTraceShow(context),
    call: createCallShow(context),
    ...createRowShows(context),
  }
}
