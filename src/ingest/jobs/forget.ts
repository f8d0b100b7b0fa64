import { openForReading } from '../../engine/open.ts'
import { ChainsieveError, retry } from '../../lib/errors.ts'
import { systemClock } from '../../lib/retry.ts'
import { nativeBinding } from '../../lib/runtime.ts'
import type { Work } from '../job-context.ts'
import type { RemoteStore } from '../remote.ts'
import { openForgetRequest } from '../requests/prune-requests.ts'
import type { JobChanges } from '../stored-changes.ts'

const FORGET_LOOK_MS = 1000
const RETRY_FORGET_MS = 5_000

/** Forgets blocks whose documents were lost remotely, as requested: they are then fetched again. */
export async function* forgetAsAsked(work: Work): JobChanges {
  for (let told: string | undefined; ; ) {
    const open = openForgetRequest(work.store)
    if (!open) return
    try {
      if (work.remote) yield* forget(work, work.remote)
      open.end()
    } catch (error) {
      work.signal.throwIfAborted()
      if (!(error instanceof ChainsieveError) || error.next !== 'retry') throw error
      if (told !== error.code) work.log.warn('Cannot forget blocks now, will retry', { why: error.message })
      told = error.code
      await systemClock.sleep(error.retryAfterMs ?? RETRY_FORGET_MS, work.signal)
    }
  }
}

async function* forget({ store, state, log }: Work, remote: RemoteStore): JobChanges {
  const db = openForReading(store, nativeBinding())
  try {
    const { blocks, indices } = await remote.findLost(db, log)
    let step = yield { type: 'forget', blocks, indices }
    while (!step.done) step = yield { type: 'forget', blocks: [], indices: [] }
    if (blocks.length === 0) return
    state.forgotten++
    log.warn('Forgot blocks of which the cluster lost documents', { blocks, indices })
  } finally {
    db.close()
  }
}

export const BLOCKS_FORGOTTEN = 'blocks_forgotten'

export const untilForgotten = async ({ state, signal }: Pick<Work, 'state' | 'signal'>): Promise<never> => {
  const before = state.forgotten
  while (state.forgotten === before) await systemClock.sleep(FORGET_LOOK_MS, signal)
  throw retry(BLOCKS_FORGOTTEN, 'blocks were forgotten, so what is missing is looked for again')
}
