import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { nodesByCommands, startOwnNodes } from '../../scripts/soak/cluster/nodes.ts'

const folderOf = (t: TestContext): string => {
  const folder = mkdtempSync(join(tmpdir(), 'chainsieve-nodes-'))
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))
  return folder
}

const until = async (test: () => boolean) => {
  for (let i = 0; !test(); i++) {
    assert.ok(i < 1_000, 'it does not happen')
    await new Promise(resolve => setTimeout(resolve, 10))
  }
}

test('commands are told the node and the signal', async t => {
  const log = join(folderOf(t), 'log')
  const nodes = nodesByCommands({ signal: `echo $SIGNAL $NODE >> ${log}`, start: `echo starts $NODE >> ${log}` })
  await nodes.signal(2, 'STOP')
  await nodes.signal(2, 'CONT')
  await nodes.signal(1, 'KILL')
  await nodes.start(1)
  assert.equal(readFileSync(log, 'utf8'), 'STOP 2\nCONT 2\nKILL 1\nstarts 1\n')
})

test('nodes of a distribution are killed and started with what belongs to them, and end with the run', async t => {
  const home = folderOf(t)
  mkdirSync(join(home, 'bin'))
  writeFileSync(
    join(home, 'bin', 'opensearch'),
    `#!/bin/sh\nfor each in "$@"; do case $each in -Enode.name=*) name=\${each#*=};; esac; done\necho "$$ $*" >> ${home}/$name\nexec sleep 100`,
    { mode: 0o755 },
  )
  const startsOf = (node: number): string[] => {
    try {
      return readFileSync(join(home, `n${node}`), 'utf8')
        .trim()
        .split('\n')
    } catch {
      return []
    }
  }
  const isRunning = (line: string): boolean => {
    try {
      return process.kill(Number(line.split(' ')[0]), 0)
    } catch {
      return false
    }
  }
  const nodes = startOwnNodes(home, 20_000)
  t.after(() => nodes.close())
  assert.deepEqual(nodes.urls, ['http://127.0.0.1:20001', 'http://127.0.0.1:20002', 'http://127.0.0.1:20003'])
  await until(() => [1, 2, 3].every(node => startsOf(node).length === 1))
  const [first] = startsOf(2) as [string]
  assert.match(first, /-Ehttp\.port=20002 -Etransport\.port=20102 .*-Epath\.data=\S+data2/)
  await nodes.signal(2, 'KILL')
  assert.equal(isRunning(first), false)
  await nodes.start(2)
  await until(() => startsOf(2).length === 2)
  assert.equal(startsOf(2)[1]!.replace(/^\d+/, ''), first.replace(/^\d+/, ''))
  await nodes.close()
  await until(() => [1, 2, 3].every(node => !isRunning(startsOf(node).at(-1)!)))
})
