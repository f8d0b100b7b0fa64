import { isMainThread, type MessagePort, workerData } from 'node:worker_threads'
import type { DeliveryData } from './delivery/thread-messages.ts'
import type { BuilderData } from './ingest/decoding/builders/thread.ts'
import type { IndexerData, WriterData } from './ingest/messages.ts'
import type { RemoteStore } from './ingest/remote.ts'
import type { ReaderData } from './search/reader-thread.ts'

/** Starts the command line or a worker's role; loads no more than that needs, for a fast start. */
const main = async () => {
  if (isMainThread) {
    const { runCommandLine } = await import('./app/cli/index.ts')
    const { services } = await import('./app/index.ts')
    const { version } = await import('./lib/runtime.ts')
    // Sets the code instead of exiting, which still flushes pipes.
    process.exitCode = await runCommandLine(process.argv.slice(2), { version, services })
    return
  }
  const { role, data } = workerData as { role: string; data: unknown }
  switch (role) {
    case 'indexer':
      return (await import('./ingest/indexer-thread.ts')).runIndexer(
        data as IndexerData & { port: MessagePort },
        await openRemote(data as IndexerData),
      )
    case 'builder':
      return (await import('./ingest/decoding/builders/thread.ts')).runBuilder(data as BuilderData)
    case 'writer':
      return (await import('./ingest/writer/writer-thread.ts')).runWriter(
        data as WriterData,
        await openRemote(data as WriterData),
      )
    case 'reader': {
      const { openThreadSearch } = await import('./cluster/thread-search.ts')
      return (await import('./search/reader-thread.ts')).runReader(data as ReaderData, openThreadSearch)
    }
    case 'checker':
      return (await import('./search/checks.ts')).runChecker()
    case 'storage':
      return (await import('./app/manage/storage.ts')).runStorage(data as { store: string })
    case 'delivery':
      return (await import('./delivery/thread.ts')).runDelivery(data as DeliveryData)
  }
}

/** The only place that chooses the remote store of a network's documents. */
const openRemote = async ({ remote, ...of }: IndexerData | WriterData): Promise<RemoteStore | undefined> =>
  remote && (await import('./cluster/remote.ts')).openRemote(remote, of)

void main()
