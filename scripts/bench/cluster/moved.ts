import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { storeFile } from '../../../src/engine/files.ts'
import { readStore } from '../../../src/engine/open.ts'
import { MIN_LOCAL_BLOCKS } from '../../../src/engine/shipping/offload.ts'
import { createOffloadedReader } from '../../../src/engine/shipping/restore-offloaded.ts'
import { abiFolder, storeAbiFiles } from '../../../src/ingest/decoding/abi-files.ts'
import type { IndexJob } from '../../../src/ingest/messages.ts'
import { startIndexing } from '../../../src/ingest/network.ts'
import { askToRedecode, openRedecodings, redecodeFolder } from '../../../src/ingest/requests.ts'
import { silent } from '../../../src/lib/log.ts'
import { byDefault, readFlags, TEXT } from '../../lib/flags.ts'
import { withFolder } from '../../lib/program.ts'
import { FIRST_BLOCK, generateBlocks } from '../generate.ts'
import { openTarget } from './target.ts'

const USAGE = `Measures how fast documents of a made-up chain that lie in a cluster alone are decoded again, and come back into the file.

node scripts/bench/cluster/moved.ts --against URL [--events N] [--seed N]`

const NETWORK = 'ethereum/bench/moved'
/** The same event as the registry knows, with other names: each transfer changes. */
const ABI = ['src', 'dst', 'wad'].map((name, i) => ({
  ...{ name, type: i < 2 ? 'address' : 'uint256', internalType: i < 2 ? 'address' : 'uint256' },
  indexed: i < 2,
}))

interface Measured {
  documents: number
  seconds: number
  /** Of this program's threads, and of the cluster's nodes. */
  processor: { ours: number; cluster: number }
}

const main = async (folder: string) => {
  const values = readFlags(USAGE, { against: TEXT, events: byDefault('20000'), seed: byDefault('1') })
  if (values.against === undefined) return console.log(USAGE)
  const target = openTarget(values.against, NETWORK, `moved-${process.pid}`)
  const data = join(folder, 'data')
  const run = (job: IndexJob, returning = false) =>
    startIndexing({ data, network: NETWORK, job, storeBatch: 100, remote: target.naming, returning, log: silent })
  const measured = async (work: () => Promise<number>): Promise<Measured> => {
    const [began, ours, cluster] = [performance.now(), process.cpuUsage(), await target.cpuSeconds()]
    const documents = await work()
    const { user, system } = process.cpuUsage(ours)
    const processor = { ours: (user + system) / 1e6, cluster: (await target.cpuSeconds()) - cluster }
    return { documents, seconds: (performance.now() - began) / 1_000, processor }
  }
  const leftInCluster = () => readStore(storeFile(data, NETWORK), db => createOffloadedReader(db).left().documents)
  try {
    const [seed, events] = [Number(values.seed), Number(values.events)]
    const files = ['old', 'new'].map(name => join(folder, `${name}.ndjson`))
    let last = FIRST_BLOCK
    for (const block of generateBlocks({ seed, events })) {
      last = Number(block.block.number)
      writeFileSync(files[0]!, `${JSON.stringify(block)}\n`, { flag: 'a' })
    }
    // The newest blocks keep their documents in the file: this one lies so far above the others that it is the only one.
    const [newest] = generateBlocks({ seed, from: last + 1 + MIN_LOCAL_BLOCKS, count: 1 })
    writeFileSync(files[1]!, `${JSON.stringify(newest)}\n`)
    await run({ type: 'import', files }).ended
    const documents = leftInCluster()
    if (documents === 0) throw new Error('all documents are still in the file')
    console.log(`${documents} documents lie in the cluster alone`)

    const path = join(folder, 'abi.json')
    writeFileSync(path, JSON.stringify([{ type: 'event', name: 'Transfer', anonymous: false, inputs: ABI }]))
    const [abi] = storeAbiFiles(abiFolder(data), [path], { network: null, address: null, codeHash: null })
    const again = await measured(async () => {
      askToRedecode(redecodeFolder(data), abi!, [NETWORK])
      const serving = run({ type: 'watch' })
      while (openRedecodings(redecodeFolder(data)).length > 0 && !serving.error()) await sleep(50)
      await serving.stop()
      return documents
    })
    show('Decoded again', again)

    const back = await measured(async () => {
      await run({ type: 'move' }, true).ended
      return documents - leftInCluster()
    })
    show('Came back', back)
  } finally {
    await target.remove()
    await target.close()
  }
}

const show = (what: string, { documents, seconds, processor: { ours, cluster } }: Measured) => {
  const each = (all: number) => `${((all / documents) * 1_000).toFixed(3)} ms`
  console.log(
    `${what}: ${documents} documents in ${seconds.toFixed(1)} s, ${Math.round(documents / seconds)} a second; ` +
      `processor time a document ${each(ours)} here, ${each(cluster)} in the cluster`,
  )
}

await withFolder(main)
