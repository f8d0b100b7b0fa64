import { type AcrossReader, createAcrossReader } from '../../alerts/across-reader.ts'
import { openForReading } from '../../engine/open.ts'
import { ChainsieveError } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { nativeBinding } from '../../lib/runtime.ts'
import { fileIdentity } from '../../sqlite/verify-pages.ts'

interface OpenedReader {
  identity: string
  reader: AcrossReader
  close(): void
}

const FAULTY_MS = 5_000

/**
 * Stores that are open for reading; opened again where another file takes their place. One that cannot be
 * read is faulty until it can, and stops no other.
 */
export const createAcrossReaders = ({ now, log }: { now(): number; log: Log }) => {
  const opened = new Map<string, OpenedReader>()
  /** When they are tried again, in epoch milliseconds. */
  const faulty = new Map<string, number>()

  const close = (network: string) => {
    const known = opened.get(network)
    opened.delete(network)
    known?.close()
  }
  const attempt = <T>(network: string, run: () => T): T | undefined => {
    try {
      return run()
    } catch (error) {
      close(network)
      // Not written yet: it is looked for again.
      if (error instanceof ChainsieveError && error.code === 'store_empty') return undefined
      if (!faulty.has(network))
        log.error('Failed to read a store for rules over several networks, will retry', { of: network, error })
      faulty.set(network, now() + FAULTY_MS)
      return undefined
    }
  }
  const openOne = (network: string, file: string | undefined) => {
    const identity = file === undefined ? undefined : fileIdentity(file)
    if (opened.get(network)?.identity === identity) return
    close(network)
    if (identity === undefined) return
    const db = openForReading(file!, nativeBinding())
    opened.set(network, { identity, reader: createAcrossReader(db), close: () => void db.close() })
    faulty.delete(network)
  }

  return {
    all: (): ReadonlyMap<string, AcrossReader> =>
      new Map([...opened].map(([network, { reader }]) => [network, reader])),
    /** Whether a store is there and cannot be read. */
    isFaulty: (network: string): boolean => faulty.has(network),
    versions: () =>
      [...opened].map(([network, { identity, reader }]) => [network, identity, attempt(network, reader.version)]),
    reopen: (networks: readonly string[]) => networks.forEach(close),
    keep(files: ReadonlyMap<string, string | undefined>) {
      for (const network of opened.keys()) if (!files.has(network)) close(network)
      for (const network of faulty.keys()) if (!files.has(network)) faulty.delete(network)
      for (const [network, file] of files)
        if ((faulty.get(network) ?? 0) <= now()) attempt(network, () => openOne(network, file))
    },
  }
}
