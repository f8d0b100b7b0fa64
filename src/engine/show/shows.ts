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

/** How each kind is shown. Whoever shares them finds a document and writes it before another is found. */
export const createShows = (reader: Reader): Shows => {
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
