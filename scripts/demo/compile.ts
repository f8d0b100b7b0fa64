import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Abi, Hex } from 'viem'

export interface Contract {
  abi: Abi
  /** Creation code, without constructor arguments. */
  bytecode: Hex
}

/** Recording is rare, so these are fetched when it is done and are no dependencies of the project. */
const packages = ['solc@0.8.30', '@openzeppelin/contracts@5.7.0', '@uniswap/v2-core@1.0.1']

/** The contracts of this folder and the published build of Uniswap v2, by name. */
export const compile = (): Record<string, Contract> => {
  const modules = fetchPackages()
  const own = new URL('contracts/', import.meta.url)
  const input = {
    language: 'Solidity',
    sources: Object.fromEntries(
      readdirSync(own).map(name => [name, { content: readFileSync(new URL(name, own), 'utf8') }]),
    ),
    settings: {
      evmVersion: 'prague',
      optimizer: { enabled: true, runs: 200 },
      outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } },
    },
  }
  const solc = createRequire(join(modules, 'any.js'))('solc') as Solc
  const output = JSON.parse(
    solc.compile(JSON.stringify(input), { import: path => ({ contents: readFileSync(join(modules, path), 'utf8') }) }),
  ) as SolcOutput
  const errors = output.errors?.filter(({ severity }) => severity === 'error') ?? []
  if (errors.length > 0) throw new Error(errors.map(({ formattedMessage }) => formattedMessage).join('\n'))

  const contracts: Record<string, Contract> = {}
  for (const file of Object.values(output.contracts)) {
    for (const [name, { abi, evm }] of Object.entries(file)) {
      contracts[name] = { abi, bytecode: `0x${evm.bytecode.object}` }
    }
  }
  for (const name of ['UniswapV2Factory', 'UniswapV2Pair']) {
    const built = JSON.parse(readFileSync(join(modules, '@uniswap/v2-core/build', `${name}.json`), 'utf8')) as {
      abi: Abi
      bytecode: string
    }
    contracts[name] = { abi: built.abi, bytecode: `0x${built.bytecode.replace(/^0x/, '')}` }
  }
  return contracts
}

interface Solc {
  compile(input: string, callbacks: { import(path: string): { contents: string } }): string
}

interface SolcOutput {
  errors?: { severity: string; formattedMessage: string }[]
  contracts: Record<string, Record<string, { abi: Abi; evm: { bytecode: { object: string } } }>>
}

/** Installs the packages aside and renames the folder, so that a fetch cut short is not taken for a whole one. */
const fetchPackages = (): string => {
  const versions = packages.map(name => name.split('@').at(-1)).join('-')
  const folder = join(tmpdir(), `chainsieve-demo-${versions}`)
  if (!existsSync(folder)) {
    const partial = `${folder}.partial`
    rmSync(partial, { recursive: true, force: true })
    mkdirSync(partial)
    writeFileSync(join(partial, 'package.json'), '{"private":true}')
    console.log(`fetching ${packages.join(', ')}`)
    execFileSync('npm', ['install', '--save-exact', '--ignore-scripts', '--no-audit', '--no-fund', ...packages], {
      cwd: partial,
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    renameSync(partial, folder)
  }
  return join(folder, 'node_modules')
}
