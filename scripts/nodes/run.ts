import { loadavg } from 'node:os'
import { refuse } from '../../src/lib/errors.ts'
import { builtProgram, byDefault, PROGRAM, readFlags, runMain } from '../lib/flags.ts'
import { NODES, type NodeName, startRealNode } from './nodes.ts'
import { runScenario } from './scenario.ts'

const USAGE = `Runs the built program against real nodes: geth (built once with Go, which takes minutes), anvil and Hardhat (from npm). It reaches each by
HTTP, WebSocket and IPC, and through proxies that prune, limit (30 calls/s) and lie, while blocks are taken back. Documents, alerts and
retractions are compared with what viem reads. Exits with 1 if one differs, or a block of the head is stored after more than 3 s.

npm run nodes -- [--only geth,anvil,hardhat] [--seconds N] [--history N] [--program FILE]`

const SHOWN = 5

const main = async (): Promise<boolean> => {
  const values = readFlags(USAGE, {
    ...{ only: byDefault(NODES.join()), seconds: byDefault('75'), history: byDefault('40'), program: PROGRAM },
  })
  const program = builtProgram(values.program)
  let isGood = true
  for (const name of values.only.split(',')) {
    if (!NODES.includes(name as NodeName)) throw refuse('no_node', `${name} is none of ${NODES.join(', ')}`)
    const node = await startRealNode(name as NodeName)
    if (typeof node === 'string') {
      console.log(`${name}: skipped, ${node}`)
      continue
    }
    try {
      const note = (text: string) => console.error(`${name}: ${text}`)
      const milliseconds = Number(values.seconds) * 1_000
      const { findings, ways, blocks } = await runScenario({
        ...{ program, node, history: Number(values.history), milliseconds, note },
      })
      console.log(`${name}: ${blocks} blocks, load of the machine ${loadavg()[0]!.toFixed(1)}`)
      console.table(ways)
      for (const [network, own] of Map.groupBy(findings, finding => finding.split(':')[0]!)) {
        for (const finding of own.slice(0, SHOWN)) console.log(`  ${finding}`)
        if (own.length > SHOWN) console.log(`  ${network}: and ${own.length - SHOWN} more`)
      }
      isGood &&= findings.length === 0
    } finally {
      await node.stop()
    }
  }
  return isGood
}

runMain(main)
