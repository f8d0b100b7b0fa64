import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DEMO_BATCH, DEMO_CHAIN, packDemo } from '../../src/dev/demo.ts'
import { storeFile } from '../../src/engine/files.ts'
import { openForWriting } from '../../src/engine/open.ts'
import { startIndexing } from '../../src/ingest/network.ts'
import { silent } from '../../src/lib/log.ts'

/** Imports the demo chain as a server would, and writes what comes of it to a file that the program ships. */
export const makeDemoStore = async (output: string) => {
  const data = mkdtempSync(join(tmpdir(), 'chainsieve-demo-'))
  try {
    const pack = 'data/demo.ndjson.gz'
    await startIndexing({
      ...{ data, network: DEMO_CHAIN, job: { type: 'import', files: [pack] } },
      storeBatch: DEMO_BATCH,
      log: silent,
    }).ended
    const store = storeFile(data, DEMO_CHAIN)
    // Each installation has a key of its own.
    const db = openForWriting(store)
    db.exec("DELETE FROM meta WHERE key = 'cursor_key'")
    db.close()
    mkdirSync('dist', { recursive: true })
    writeFileSync(output, packDemo(readFileSync(store), readFileSync(pack)))
  } finally {
    rmSync(data, { recursive: true, force: true })
  }
}
