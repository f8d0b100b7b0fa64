import { useEffect, useState } from 'preact/hooks'

/** A value that components follow. */
export interface Store<T> {
  get(): T
  set(value: T): void
  subscribe(listener: () => void): () => void
}

export const createStore = <T>(initial: T): Store<T> => {
  let value = initial
  const listeners = new Set<() => void>()
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return
      value = next
      for (const listener of [...listeners]) listener()
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

export const useStore = <T>(store: Store<T>): T => {
  const [, draw] = useState({})
  const seen = store.get()
  useEffect(() => {
    const unsubscribe = store.subscribe(() => draw({}))
    // It may have changed between the drawing and this.
    if (!Object.is(seen, store.get())) draw({})
    return unsubscribe
  }, [store])
  return seen
}
