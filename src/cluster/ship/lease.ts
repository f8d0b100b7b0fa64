import { type Clock, systemClock } from '../../lib/retry.ts'
import type { Cluster, ClusterRequest } from '../connection/cluster.ts'
import { expectOkText } from '../connection/expect-ok.ts'

/**
 * Leader election: one process at a time writes the documents of a network. The holder renews a
 * document in the cluster every few seconds (heartbeat). Another process takes over, with the next
 * term, once that document was unchanged for long enough by its own clock: clocks need not agree. A
 * holder that fails to renew in time stops by itself; what it sent has a lower term (fencing).
 */
export type Lease = ReturnType<typeof createLease>

interface LeaseOptions {
  cluster: Cluster
  /** See `stateIndexOf`. */
  index: string
  /** Identity of the process; a successor with the same one gets the lease and term at once. */
  id: string
  /** A name for people: host and process. */
  name: string
  clock?: Clock
  /** Time without a renewal after which the holder counts as gone. */
  ttlMs?: number | undefined
}

const LEASE_TTL_MS = 20_000
/** Fraction of this time after which the holder gives up, before others take over. */
const HOLDER_MARGIN = 0.75
const RENEWALS = 4

interface LeaseRecord {
  term: number
  holder: string
  id: string
  renewal: number
}

interface StoredLease {
  held: LeaseRecord
  /** Version of the document in the cluster. */
  seqNo: number
  primaryTerm: number
}

export const createLease = ({ cluster, index, id, name, clock = systemClock, ttlMs = LEASE_TTL_MS }: LeaseOptions) => {
  const path = `/${index}/_doc/lease`
  const losing = new AbortController()
  const stopping = new AbortController()
  let mine: StoredLease | undefined
  let other: string | undefined
  /** Last state and when it appeared, also kept while reads fail: a dead holder renews nothing. */
  let seen: StoredLease | undefined
  let since = 0

  const read = async (): Promise<StoredLease | undefined> => {
    const answer = await cluster.ask({ method: 'GET', path, timeoutMs: ttlMs / 2 })
    if (answer.status === 404) return undefined
    const { _source, _seq_no, _primary_term } = JSON.parse(
      expectOkText(answer, { method: 'GET', path }, 'read the lease'),
    ) as {
      _source: { value: string }
      _seq_no: number
      _primary_term: number
    }
    return { held: JSON.parse(_source.value) as LeaseRecord, seqNo: _seq_no, primaryTerm: _primary_term }
  }

  /** Overwrites a state that was read; undefined if another process was faster. */
  const write = async (
    held: LeaseRecord,
    over: StoredLease | undefined,
    patience: Pick<ClusterRequest, 'timeoutMs' | 'retries'> = { timeoutMs: ttlMs / 2 },
  ): Promise<StoredLease | undefined> => {
    const query = over ? { if_seq_no: over.seqNo, if_primary_term: over.primaryTerm } : ({ op_type: 'create' } as const)
    const body = { value: JSON.stringify(held) }
    const answer = await cluster.ask({ method: 'PUT', path, query, body, ...patience })
    if (answer.status === 409) return undefined
    const text = expectOkText(answer, { method: 'PUT', path }, 'write the lease')
    const { _seq_no, _primary_term } = JSON.parse(text) as { _seq_no: number; _primary_term: number }
    return { held, seqNo: _seq_no, primaryTerm: _primary_term }
  }

  /** The last write may have succeeded without an answer: reads it back. */
  const renew = async () => {
    const next = { ...mine!.held, renewal: mine!.held.renewal + 1 }
    const written = await write(next, mine)
    if (written) return written
    const found = await read()
    return found?.held.id === id && found.held.term === next.term ? found : undefined
  }

  const keep = async (acquiredAt: number) => {
    let renewedAt = acquiredAt
    for (;;) {
      await clock.sleep(ttlMs / RENEWALS, stopping.signal)
      const begun = clock.elapsed()
      try {
        mine = await Promise.race([renew(), lateAfter(renewedAt + ttlMs * HOLDER_MARGIN - begun)])
        if (!mine) return lose(`another process has taken over`)
        renewedAt = begun
      } catch {
        // The next one may succeed.
      }
      if (clock.elapsed() - renewedAt >= ttlMs * HOLDER_MARGIN)
        return lose(`the lease could not be renewed for ${(ttlMs * HOLDER_MARGIN) / 1000} s`)
    }
  }

  /** Rejects when it is time to give up, even if a request hangs. */
  const lateAfter = (ms: number): Promise<never> =>
    clock.sleep(Math.max(0, ms), stopping.signal).then(() => {
      throw new Error('the cluster takes too long')
    })

  const lose = (why: string) => {
    mine = undefined
    losing.abort(new Error(why))
  }

  return {
    /** Aborts when the lease is lost. */
    lost: losing.signal,
    /** Name of another holder, if there is one. */
    holder: () => other,
    /** Waits until this process has the lease; resolves to the term. */
    async acquire(signal: AbortSignal) {
      for (;;) {
        signal.throwIfAborted()
        const found = await read()
        const isSame = found && seen && found.seqNo === seen.seqNo && found.primaryTerm === seen.primaryTerm
        if (!isSame) since = clock.elapsed()
        seen = found
        const isOwn = found?.held.id === id
        const isFree = found === undefined || isOwn || found.held.holder === '' || clock.elapsed() - since >= ttlMs
        if (isFree) {
          // Others count from the time of the write, which is before the answer.
          const begun = clock.elapsed()
          const term = (found?.held.term ?? 0) + (isOwn ? 0 : 1)
          mine = await write({ term, holder: name, id, renewal: (found?.held.renewal ?? 0) + 1 }, found)
          if (mine) {
            other = undefined
            keep(begun).catch(() => {})
            return term
          }
        } else other = found.held.holder
        await clock.sleep(ttlMs / RENEWALS / 2, signal)
      }
    },
    /** Releases the lease at once: the next process need not wait. */
    async release() {
      stopping.abort()
      const last = mine
      mine = undefined
      // Does not wait for an unavailable cluster.
      if (last) await write({ ...last.held, holder: '' }, last, { timeoutMs: 1_000, retries: 0 }).catch(() => {})
    },
  }
}
