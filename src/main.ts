import { isMainThread, type MessagePort, workerData } from 'node:worker_threads'
import { run } from './cli/index.ts'
import { runIndexer } from './ingest/indexer-thread.ts'
import type { IndexerData } from './ingest/messages.ts'
import { runWriter } from './ingest/writer-thread.ts'
import { version } from './lib/runtime.ts'
import { runReader } from './search/reader-thread.ts'
import { services } from './services.ts'

/** The program's one entry: the command line in the main thread, and each worker thread in its role. */
const main = async () => {
  if (isMainThread) {
    // Set, not called: what was written to a pipe is still delivered.
    process.exitCode = await run(process.argv.slice(2), { version, services })
    return
  }
  const { role, data } = workerData as { role: string; data: unknown }
  if (role === 'indexer') return runIndexer(data as IndexerData & { port: MessagePort })
  if (role === 'writer') return runWriter(data as { store: string; port: MessagePort })
  if (role === 'reader') return runReader(data as { cancel: SharedArrayBuffer })
}

void main()
