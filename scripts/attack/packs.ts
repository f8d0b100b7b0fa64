import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type PackLine, parsePackLine } from '../../src/chain/files/pack.ts'
import type { RawBlock } from '../../src/chain/wire.ts'
import { ChainsieveError, messageOf } from '../../src/lib/errors.ts'
import { startProgram } from '../lib/program.ts'
import type { Random } from '../lib/random.ts'
import { type Attack, brief, chance, pick, tryEach } from './attack.ts'
import { misspelt } from './mutate.ts'
import { createBlockJudge, honestBlocks, mutateWire } from './wire.ts'

const TRIES = 20_000
/** One line in so many also goes through the program's own command. */
const IMPORTED = 500

/** Lines of block packs with a member changed: the honest documents, or a refusal that names file and line. */
export const packs: Attack = {
  name: 'packs',
  is: 'lines of block packs with a member changed: refused by file and line, or the honest documents',
  async run(context) {
    const { program, folder } = context
    const blocks = honestBlocks().filter(({ block }) => block.transactions.length > 0)
    const judge = createBlockJudge()
    const counts = { honest: 0, unseen: 0, wrong: 0, refused: 0, imported: 0 }
    try {
      const made = await tryEach(context, TRIES, async ({ attempt, random, find: found }) => {
        const wanted = pick(random, blocks)
        const { text, lie } = changed(wanted, random)
        const find = (what: string, more: string) =>
          found(what, `block ${Number(wanted.block.number)}, ${lie}: ${more}`)
        const path = join(folder, 'pack.ndjson')
        try {
          const verdict = judge.judge(wanted, parsePackLine(lineOf(path, text)))
          counts[verdict.is]++
          if (verdict.is === 'wrong') find('a broken line is taken for a block', verdict.why)
        } catch (error) {
          counts.refused++
          const fault = faultOf(error, path)
          if (fault !== undefined) find(fault, brief(error instanceof Error ? (error.stack ?? '') : String(error), 400))
          if (attempt % IMPORTED === 0) {
            counts.imported++
            const fault = await importFault(program, folder, path, text)
            if (fault !== undefined) find('import does not refuse it as it should', fault)
          }
        }
      })
      const note = `${counts.refused} lines were refused, ${counts.honest} gave the honest documents, ${counts.unseen} another value of the right form; ${counts.imported} also went through import`
      return { ...made, notes: [note] }
    } finally {
      judge.close()
    }
  },
}

const changed = (raw: RawBlock, random: Random): { text: string; lie: string } => {
  if (!chance(random, 0.05)) {
    const { path, what, value } = mutateWire(raw, random)
    return { text: JSON.stringify(value) ?? '', lie: `${path}: ${what}` }
  }
  const text = JSON.stringify(raw)
  return pick(random, [
    { text: text.slice(0, random.below(text.length)), lie: 'cut off' },
    { text: misspelt(random, text), lie: 'misspelt' },
    { text: text.replace(/"(\w+)":/, '"$1":null,"$1":'), lie: 'a name twice' },
    { text: '['.repeat(100_000), lie: 'far too deep' },
  ])
}

const lineOf = (path: string, text: string): PackLine => ({
  path,
  line: 2,
  bytes: new TextEncoder().encode(text),
  last: true,
})

const faultOf = (error: unknown, path: string): string | undefined => {
  if (!(error instanceof ChainsieveError)) return 'an error that nobody foresaw'
  if (error.next !== 'refuse') return 'a broken line is no refusal'
  return messageOf(error).includes(`${path}, line 2`) || error.code === 'pack_truncated'
    ? undefined
    : 'a refusal does not name file and line'
}

/** By the command, behind an honest line: it fails, and says where without a stack trace. */
const importFault = async (
  program: string,
  folder: string,
  path: string,
  text: string,
): Promise<string | undefined> => {
  const [first] = honestBlocks()
  writeFileSync(path, `${JSON.stringify(first)}\n${text}\n`)
  const data = join(folder, 'import')
  const args = ['import', '--network', 'ethereum/attack/pack', path, '--data', data]
  const said = await startProgram(program, args).ended.then(
    () => undefined,
    error => messageOf(error),
  )
  if (said === undefined) return 'it ends well'
  if (!/line 2/.test(said)) return `it does not name the line: ${brief(said, 400)}`
  return /\n\s+at .*\.mjs:\d+/.test(said) ? `it prints a stack trace: ${brief(said, 400)}` : undefined
}
