/** What work asks of the cluster, as if it answered at once. */
export type Need = <K>(fetch: () => Promise<K>) => K

export interface Replay {
  need: Need
  /**
   * Has work done that needs answers which are not there yet. What it needs is learnt from the work itself: it is given up where an answer is
   * missing, and begun anew once that is there.
   */
  run<T>(work: () => T): Promise<T>
}

export const createReplay = (): Replay => {
  /** Answers in the order in which the work asks for them. */
  const known: unknown[] = []
  let at = 0
  return {
    need<K>(fetch: () => Promise<K>): K {
      if (at === known.length) throw new Missing(async () => known.push(await fetch()))
      return known[at++] as K
    },
    async run(work) {
      for (;;) {
        at = 0
        try {
          return work()
        } catch (error) {
          if (!(error instanceof Missing)) throw error
          await error.fetch()
        }
      }
    },
  }
}

/** Thrown where work needs what was not asked for yet. */
class Missing {
  readonly fetch: () => Promise<unknown>
  constructor(fetch: () => Promise<unknown>) {
    this.fetch = fetch
  }
}
