import { readMonitors, writeRuleFiles } from '../../openzeppelin/index.ts'
import { command, misused } from '../command.ts'
import { formatCount, formatText } from '../format.ts'

export const rulesImportCommand = command({
  name: 'rules import',
  usage: 'openzeppelin FOLDER OUTPUT',
  summary:
    'Writes the monitors in the folder config of an OpenZeppelin Monitor as files for rules apply, and lists every line without a counterpart.',
  settings: ['limit'],
  options: {},
  arity: [3, 3],
  run: async ({ args: [from = '', folder = '', output = ''], config }) => {
    if (from !== 'openzeppelin')
      throw misused(`Rules are imported from openzeppelin, not from ${JSON.stringify(from)}.`)
    const imported = readMonitors(folder, { env: process.env, limits: config.limits })
    writeRuleFiles(output, imported)
    return imported
  },
  format: ({ files, lacks }, { args: [, , output = ''] }) =>
    [
      ...lacks.map(({ file, path, message }) =>
        formatText([file, path, message].filter(it => it !== '').join(': '), 2_000),
      ),
      `${formatCount(
        files.reduce((sum, { rules }) => sum + rules.length, 0),
        'rule',
        'rules',
      )} in ${formatCount(files.length, 'file', 'files')} of ${output}. Look at them, then: chainsieve rules apply ${output} --dry-run`,
    ].join('\n'),
  json: ({ files, lacks }) => ({
    files: files.map(({ file, rules }) => ({ file, rules: rules.map(({ name }) => name) })),
    lacks,
  }),
})
