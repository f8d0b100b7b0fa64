import { existsSync } from 'node:fs'
import type { Run } from '../cli/index.ts'
import type { Config } from '../config/index.ts'
import { storeFile } from '../engine/files.ts'
import { startIndexing } from '../ingest/network.ts'
import { assetFile } from '../lib/runtime.ts'
import { DEMO, DEMO_BATCH } from './demo-store.ts'
import { rangesOf } from './stores.ts'

const HEAD = 420
export const DEMO_TOKEN_MS = 30 * 24 * 3600 * 1000

/** Stores the demo chain where it is not stored whole: the first start may have been broken off. */
export const importDemo = async (config: Config, run: Run) => {
  const stored = storeFile(config.data, DEMO)
  // In this thread: it takes no time, and the threads that read are started after the first queries.
  if (existsSync(stored) && rangesOf(stored).some(({ from, to }) => from === 0 && to >= HEAD)) return
  const files = [assetFile('demo.ndjson.gz', config.data)]
  const indexing = startIndexing({
    data: config.data,
    network: DEMO,
    job: { type: 'import', files },
    storeBatch: DEMO_BATCH,
    log: run.log,
  })
  run.shutdown.signal.addEventListener('abort', () => void indexing.stop(), { once: true })
  await indexing.ended
}

export const welcome = (url: string, token: string, hasConsole: boolean): string => `
Chainsieve serves the bundled demo chain (${DEMO}) at ${url}
Token: ${token}
${hasConsole ? `Console: ${url}/console/\n` : ''}
Try it. These are the newest transfers of the demo dollar:

curl -s ${url}/${DEMO}/es/event/search/ -H 'Authorization: Bearer ${token}' -H 'Content-Type: application/json' \\
  -d '{"query":{"bool":{"filter":[{"term":{"event.raw":"Transfer"}},{"term":{"address":"0x252bfe6ba05b239912fe0f8f514b3564f40a7a96"}}]}},"sort":{"blockNumber.num":"desc"},"size":3}'

`
