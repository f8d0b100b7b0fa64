import { messageOf, refuse } from '../../../src/lib/errors.ts'
import { byDefault, PROGRAM, readFlags, runMain, TEXT } from '../../lib/flags.ts'
import { nodesByCommands, startOwnNodes } from './nodes.ts'
import { type ClusterSoak, soakCluster } from './soak.ts'

const USAGE = `Runs the built program over an OpenSearch cluster, kills it with -9 and has a node of the cluster die or hang at random moments, while
the chain is reorganised and 16 clients search. In the end it compares all documents with those of a SQLite store. Exits with 1 if a document
is missing, wrong or there twice, if an answer is wrong, or if searches fail for more than 5 s at a time.

OPENSEARCH_HOME=FOLDER npm run soak:cluster -- [--port N] [--seeds N] [--seed N] [--seconds N] [--kills N]
npm run soak:cluster -- --url URL,... [--signal-node COMMAND --start-node COMMAND]

OPENSEARCH_HOME  unpacked distribution of OpenSearch: three nodes of it are started, and ended again
--port           their ports are those behind this one (default 9600), and those behind 100 more
--url            nodes of a cluster that runs; its other indices are left alone
--signal-node    shell command that sends the signal $SIGNAL (KILL, STOP, CONT) to node $NODE (1, 2, … as in --url), such as
                 'docker kill --signal $SIGNAL search$NODE'
--start-node     shell command that starts it again after KILL, such as 'docker start search$NODE'
--seeds          how many runs (default 1); --seed is that of the first
--seconds        how long each run is under load, at least (default 20)
--kills          how often the program is killed in each run (default 2)
--program        what is run (default dist/chainsieve.mjs)`

const main = async (): Promise<boolean> => {
  const values = readFlags(USAGE, {
    ...{ url: TEXT, port: byDefault('9600'), seeds: byDefault('1'), seed: byDefault('1'), seconds: byDefault('20') },
    ...{ kills: byDefault('2'), 'signal-node': TEXT, 'start-node': TEXT, program: PROGRAM },
  })
  const { 'signal-node': signal, 'start-node': start, url } = values
  if ((signal === undefined) !== (start === undefined))
    throw refuse('half_a_node', '--signal-node and --start-node go together')
  const home = process.env.OPENSEARCH_HOME
  if (url === undefined && !home)
    throw refuse(
      'no_cluster',
      'neither --url names the nodes of a cluster nor OPENSEARCH_HOME a distribution of OpenSearch',
    )
  const own = url === undefined ? startOwnNodes(home!, Number(values.port)) : undefined
  const nodes = own ?? (signal === undefined || start === undefined ? undefined : nodesByCommands({ signal, start }))
  const urls = own?.urls ?? url!.split(',')
  const { program } = values
  const runOf = async (seed: number): Promise<ClusterSoak> => {
    const started = Date.now()
    const note = (text: string) =>
      console.error(`seed ${seed}, ${((Date.now() - started) / 1_000).toFixed(1)} s: ${text}`)
    const milliseconds = Number(values.seconds) * 1_000
    try {
      return await soakCluster({ program, urls, seed, kills: Number(values.kills), milliseconds, nodes, note })
    } catch (error) {
      return { findings: [messageOf(error)], counts: {} }
    }
  }
  let isWell = true
  try {
    for (let i = 0; i < Number(values.seeds); i++) {
      const seed = Number(values.seed) + i
      const { findings, counts } = await runOf(seed)
      console.log(`seed ${seed}: ${JSON.stringify(counts)}`)
      for (const finding of findings.slice(0, SHOWN)) console.log(`found: ${finding}`)
      isWell &&= findings.length === 0
    }
  } finally {
    await own?.close()
  }
  return isWell
}

const SHOWN = 20

runMain(main)
