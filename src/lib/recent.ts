/** A map that keeps what was asked for lately: of two generations of so many entries each the older one is dropped when the younger is full. */
export interface Recent<V> {
  get(key: string): V | undefined
  set(key: string, value: V): void
  entries(): Iterable<[string, V]>
  clear(): void
}

export const createRecent = <V extends object | null>(size: number): Recent<V> => {
  let young = new Map<string, V>()
  let old = new Map<string, V>()

  const set = (key: string, value: V) => {
    if (young.size >= size && !young.has(key)) {
      old = young
      young = new Map()
    }
    young.set(key, value)
  }

  return {
    get(key) {
      const value = young.get(key)
      if (value !== undefined) return value
      const older = old.get(key)
      if (older !== undefined) set(key, older)
      return older
    },
    set,
    entries: () => new Map([...old, ...young]),
    clear() {
      young = new Map()
      old = new Map()
    },
  }
}
