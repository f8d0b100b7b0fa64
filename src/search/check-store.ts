import { type Failure, toFailure } from '../lib/failure.ts'
import { damaged } from '../sqlite/damage.ts'
import { checkPages, checkQuickly } from '../sqlite/pages.ts'

/** What is wrong with a store; null where all its pages are as they were written. Between two steps of reading, whoever asks may rest. */
export function* checkStore(store: string): Generator<void, Failure | null> {
  try {
    const steps = checkPages(store)
    for (;;) {
      const { done, value } = steps.next()
      const pages = value?.damaged ?? []
      // Searches need not wait for the rest.
      if (pages.length > 0) return toFailure(damaged(store, pages))
      if (done) return null
      yield
    }
  } catch (error) {
    // One that was removed meanwhile is not searched either.
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? null : toFailure(error)
  }
}

/** The same without a pause. */
export const checkAtOnce = (store: string): Failure | null => {
  const steps = checkStore(store)
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

/** What can be told of it at once. */
export const lookQuickly = (store: string): Failure | null => {
  try {
    checkQuickly(store)
    return null
  } catch (error) {
    return toFailure(error)
  }
}
