import { connect } from '../../cluster/connection/cluster.ts'
import type { ClusterOptions } from '../../cluster/connection/options.ts'
import { createIndices } from '../../cluster/indices/indices.ts'
import { aliasIn } from '../../cluster/indices/lost-indices.ts'
import { aliasOf } from '../../cluster/indices/names.ts'
import { openForReading } from '../../engine/open.ts'
import { createKnownIndices } from '../../engine/shipping/index-identities.ts'
import { createShelfReader } from '../../engine/shipping/shipped-ranges.ts'
import { ChainsieveError, retry } from '../../lib/errors.ts'
import { merged } from '../../lib/ranges.ts'
import { systemClock } from '../../lib/retry.ts'
import { nativeBinding } from '../../lib/runtime.ts'
import type { Work } from '../job-context.ts'
import { openForgetRequest } from '../requests/prune-requests.ts'
import type { Changes } from '../stored-changes.ts'

/** Time between two looks at whether something is to be forgotten. */
const LOOK_MS = 1000
/** Time between two attempts. */
const AGAIN_MS = 5_000

/**
 * Forgets the blocks of which an index of the cluster lost documents that the store no longer has, where that was requested. They count as missing then, and
 * are fetched again as others are. What a stop interrupts is gone on with by whoever looks next.
 */
export async function* forgetAsAsked(work: Work): Changes {
  for (let told: string | undefined; ; ) {
    const open = openForgetRequest(work.store)
    if (!open) return
    try {
      if (work.cluster) yield* forget(work, work.cluster)
      open.end()
    } catch (error) {
      work.signal.throwIfAborted()
      if (!(error instanceof ChainsieveError) || error.next !== 'retry') throw error
      if (told !== error.code) work.log.warn('Cannot forget blocks now, will retry', { why: error.message })
      told = error.code
      await systemClock.sleep(error.retryAfterMs ?? AGAIN_MS, work.signal)
    }
  }
}

async function* forget({ store, network, state, log }: Work, naming: ClusterOptions): Changes {
  const db = openForReading(store, nativeBinding())
  const cluster = connect(naming)
  try {
    const { visible, isFollowing } = createShelfReader(db)
    if (isFollowing())
      throw retry('forget_waits', `waits until this server may write the documents of ${network}`, {
        retryAfterMs: LOOK_MS,
      })
    const indicesThere = createIndices(cluster, naming, network, log, createKnownIndices(db).of)
    const { lost: all } = await indicesThere.look(visible().ranges)
    // The store has all tokens, which are shipped again by themselves.
    const lost = all.filter(({ index }) => aliasIn(index) !== aliasOf(naming, network, 'token'))
    const blocks = merged(lost.flatMap(one => one.blocks))
    const indices = lost.map(({ index }) => index)
    let step = yield { type: 'forget', blocks, indices }
    while (!step.done) step = yield { type: 'forget', blocks: [], indices: [] }
    if (blocks.length === 0) return
    state.forgotten++
    log.warn('Forgot blocks of which the cluster lost documents', { blocks, indices })
  } finally {
    db.close()
    await cluster.close()
  }
}

export const FORGOTTEN = 'blocks_forgotten'

/** Rejects when blocks were forgotten: then what is missing is looked for anew. */
export const untilForgotten = async ({ state, signal }: Pick<Work, 'state' | 'signal'>): Promise<never> => {
  const before = state.forgotten
  while (state.forgotten === before) await systemClock.sleep(LOOK_MS, signal)
  throw retry(FORGOTTEN, 'blocks were forgotten, so what is missing is looked for anew')
}
