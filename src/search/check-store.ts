import { type Failure, toFailure } from '../lib/failure.ts'
import { damaged } from '../sqlite/damage.ts'
import { checkPages } from '../sqlite/pages.ts'

type Steps = ReturnType<typeof checkPages>

/** What is wrong with a store; null where all its pages are as they were written. `rest` is called between two steps. */
export const checkStore = async (store: string, rest: (stepMs: number) => Promise<void>): Promise<Failure | null> => {
  try {
    const steps = checkPages(store)
    for (;;) {
      const begun = performance.now()
      const pages = step(steps)
      if (pages) return failureOf(store, pages)
      await rest(performance.now() - begun)
    }
  } catch (error) {
    return faultOf(error)
  }
}

/** The same without a pause. */
export const checkAtOnce = (store: string): Failure | null => {
  try {
    const steps = checkPages(store)
    for (;;) {
      const pages = step(steps)
      if (pages) return failureOf(store, pages)
    }
  } catch (error) {
    return faultOf(error)
  }
}

/** The damaged pages, undefined as long as there are none and more to look at: searches need not wait for the rest. */
const step = (steps: Steps): number[] | undefined => {
  const { done, value } = steps.next()
  if (done) return value?.damaged ?? []
  return value.damaged.length > 0 ? value.damaged : undefined
}

const failureOf = (store: string, pages: number[]): Failure | null =>
  pages.length > 0 ? toFailure(damaged(store, pages)) : null

/** A store that was removed meanwhile is not searched either. */
const faultOf = (error: unknown): Failure | null =>
  (error as NodeJS.ErrnoException).code === 'ENOENT' ? null : toFailure(error)
