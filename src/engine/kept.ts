/** Bytes that a thread keeps of all stores that it reads, for the next query. */
export type KeptMemory = ReturnType<typeof createKeptMemory>

export interface KeptShare {
  /** Of columns as they are decoded. */
  columns(): number
  /** Of numbers of arguments. */
  points(): number
  /** Of what aggregations found in segments. */
  states(): number
}

export const createKeptMemory = (bytes: number) => {
  const stores = new Set<string>()
  return {
    /** A share of them for the store of a file; what it may keep becomes less as others come. */
    store(file: string): KeptShare {
      stores.add(file)
      const part = (share: number) => () => (share * bytes) / stores.size
      return { columns: part(0.4), points: part(0.3), states: part(0.3) }
    },
  }
}

/** For who reads a store outside of the server. */
export const DEFAULT_KEPT = 80 * 2 ** 20
