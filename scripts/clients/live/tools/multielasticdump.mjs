/** Copies the indices whose names match into a folder. It asks for the indices at the root of its host. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { linesIn, ROOT, report, runBinary, WORK, withToken } from './report.mjs'

const folder = join(WORK, 'multi')
mkdirSync(folder)

await report({
  'documents of tx': async () => {
    await runBinary('multielasticdump', [
      ...['--direction=dump', '--match=^ethereum-demo-local-(tx|block)$', `--input=${withToken(ROOT)}`],
      ...[`--output=${folder}`, '--ignoreType=template,analyzer,alias', '--limit=1000'],
    ])
    return linesIn(join(folder, 'ethereum-demo-local-tx.json')).length
  },
  'documents of block': () => linesIn(join(folder, 'ethereum-demo-local-block.json')).length,
})
