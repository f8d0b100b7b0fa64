import type { Kind } from '../../mapping/index.ts'
import type { Documents } from '../query/documents.ts'
import type { Reader } from '../reader.ts'
import { createBlockShow } from './block.ts'
import { createCallShow } from './call.ts'
import { createContext } from './context.ts'
import { createDocumentShow } from './document.ts'
import { createEventShow } from './event.ts'
import { createLogShow } from './log.ts'
import type { Show } from './show.ts'
import { createTraceShow } from './trace.ts'
import { createTxShow } from './tx.ts'

/** How each kind is shown; `shown` builds the documents of those that are few. */
export const createShows = (reader: Reader, shown: Documents): Record<Kind, Show> => {
  const context = createContext(reader)
  return {
    block: createBlockShow(context),
    tx: createTxShow(context),
    log: createLogShow(context),
    event: createEventShow(context),
    trace: createTraceShow(context),
    call: createCallShow(context),
    contract: createDocumentShow('contract', shown),
    token: createDocumentShow('token', shown),
  }
}
