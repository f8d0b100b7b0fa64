import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'
import { type Abi, toEventSelector, toFunctionSelector } from 'viem'
import type { Compiled } from '../../test/support/compiled.ts'

/**
 * Compiles contracts with several compilers and settings into `test/decode/compiled.ndjson.br`: what tests of code look at, with the
 * selectors and topics of their ABIs. Run it when the contracts change; it fetches the compilers, which are no dependencies of the
 * project, from npm and PyPI.
 */
const NPM = [
  'solc@0.8.30',
  'solc5@npm:solc@0.5.17',
  'solc6@npm:solc@0.6.12',
  'solc7@npm:solc@0.7.6',
  '@openzeppelin/contracts@5.7.0',
  'oz4@npm:@openzeppelin/contracts@4.9.6',
  '@uniswap/v2-core@1.0.1',
  '@uniswap/v3-core@1.0.1',
  '@safe-global/safe-contracts@1.4.1',
  'solady@0.1.26',
]
const VYPER = ['0.2.16', '0.3.10', '0.4.3']

const SETTINGS: Record<string, object> = {
  plain: { optimizer: { enabled: false } },
  'runs 1': { optimizer: { enabled: true, runs: 1 } },
  'runs 200': { optimizer: { enabled: true, runs: 200 } },
  'runs 1000000': { optimizer: { enabled: true, runs: 1_000_000 } },
  'via IR': { viaIR: true, optimizer: { enabled: true, runs: 200 } },
  'via IR plain': { viaIR: true, optimizer: { enabled: false } },
}

const here = new URL('./', import.meta.url)
const source = (name: string) => readFileSync(new URL(name, here), 'utf8')

const main = () => {
  const modules = fetchPackages()
  const found: Compiled[] = []
  const own = { 'Library.sol': { content: source('Library.sol') }, 'Own.sol': { content: source('Own.sol') } }
  for (const [by, settings] of Object.entries(SETTINGS))
    found.push(
      ...solc(modules, 'solc', own, { evmVersion: 'prague', ...settings }, by)
        .filter(({ file, name }) => file in own || /^(TransparentUpgradeable|ERC1967|Beacon)Proxy$/.test(name))
        .map(({ file: _, ...it }) => it),
    )
  for (const [name, version] of [
    ['solc5', '0.5.17'],
    ['solc6', '0.6.12'],
    ['solc7', '0.7.6'],
  ] as const)
    for (const by of ['plain', 'runs 1', 'runs 200'])
      found.push(
        ...solc(
          modules,
          name,
          { 'Old.sol': { content: source('Old.sol') } },
          SETTINGS[by]!,
          `solc ${version} ${by}`,
        ).map(({ file: _, ...it }) => it),
      )
  const safe = ['Safe.sol', 'proxies/SafeProxy.sol'].map(path => `@safe-global/safe-contracts/contracts/${path}`)
  found.push(
    ...solc(modules, 'solc7', files(modules, safe), SETTINGS.plain!, 'solc 0.7.6 plain')
      .filter(({ name }) => /^Safe(Proxy)?$/.test(name))
      .map(({ file: _, ...it }) => it),
  )
  const old = [
    'token/ERC721/presets/ERC721PresetMinterPauserAutoId.sol',
    'proxy/transparent/TransparentUpgradeableProxy.sol',
    'proxy/beacon/BeaconProxy.sol',
    'proxy/ERC1967/ERC1967Proxy.sol',
  ].map(path => `oz4/${path}`)
  found.push(
    ...solc(modules, 'solc', files(modules, old), { evmVersion: 'paris', ...SETTINGS['runs 200'] }, 'OpenZeppelin 4')
      .filter(({ name }) => /Preset|Proxy$/.test(name))
      .map(({ file: _, ...it }) => it),
  )
  for (const name of ['UniswapV2Factory', 'UniswapV2Pair']) {
    const { abi, evm } = json(join(modules, `@uniswap/v2-core/build/${name}.json`))
    found.push(compiled(name, 'solc 0.5.16', evm.deployedBytecode.object, abi))
  }
  for (const name of ['UniswapV3Factory', 'UniswapV3Pool']) {
    const { abi, deployedBytecode } = json(
      join(modules, `@uniswap/v3-core/artifacts/contracts/${name}.sol/${name}.json`),
    )
    found.push(compiled(name, 'solc 0.7.6', deployedBytecode, abi))
  }
  for (const version of VYPER) found.push(...vyper(version))
  const text = found.map(it => JSON.stringify(it)).join('\n')
  const packed = brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_LGWIN]: 24 } })
  writeFileSync(new URL('../../test/decode/compiled.ndjson.br', here), packed)
  console.log(`${found.length} contracts, ${packed.length} bytes`)
}

// biome-ignore lint/suspicious/noExplicitAny: the shapes of three projects' artifacts
const json = (path: string): any => JSON.parse(readFileSync(path, 'utf8'))

const compiled = (name: string, by: string, object: string, abi: Abi): Compiled => {
  // A library's address is filled in later.
  const code = `0x${object.replace(/^0x/, '').replace(/__.{38}/g, '11'.repeat(20))}`
  const topics = abi.filter(it => it.type === 'event').map(it => toEventSelector(it))
  return {
    name,
    by,
    code,
    selectors: [...new Set(abi.filter(it => it.type === 'function').map(it => toFunctionSelector(it)))].sort(),
    topics: [...new Set(topics.filter(topic => code.includes(topic.slice(2).replace(/^(00)+/, ''))))].sort(),
  }
}

const files = (modules: string, paths: readonly string[]) =>
  Object.fromEntries(paths.map(path => [path, { content: readFileSync(join(modules, path), 'utf8') }]))

const solc = (modules: string, compiler: string, sources: object, settings: object, by: string) => {
  const input = {
    language: 'Solidity',
    sources,
    settings: { ...settings, outputSelection: { '*': { '*': ['abi', 'evm.deployedBytecode.object'] } } },
  }
  const { compile } = createRequire(join(modules, 'any.js'))(compiler)
  const read = (path: string) => ({ contents: readFileSync(join(modules, path), 'utf8') })
  const output: SolcOutput = JSON.parse(compile(JSON.stringify(input), { import: read }))
  const faults = output.errors?.filter(it => it.severity === 'error') ?? []
  if (faults.length > 0) throw new Error(faults[0]!.formattedMessage)
  const found: (Compiled & { file: string })[] = []
  for (const [file, contracts] of Object.entries(output.contracts))
    for (const [name, { abi, evm }] of Object.entries(contracts))
      if (evm.deployedBytecode.object !== '')
        found.push({ file, ...compiled(name, by, evm.deployedBytecode.object, abi) })
  return found
}

const vyper = (version: string): Compiled[] => {
  const folder = join(tmpdir(), `chainsieve-vyper-${version}`)
  if (!existsSync(join(folder, 'bin/vyper'))) {
    execFileSync('python3', ['-m', 'venv', folder])
    execFileSync(join(folder, 'bin/pip'), ['-q', 'install', `vyper==${version}`, 'setuptools'], { stdio: 'inherit' })
  }
  return (version === '0.2.16' ? [''] : ['none', 'gas', 'codesize']).map(optimize => {
    const more = optimize === '' ? [] : ['--optimize', optimize]
    const path = new URL('store.vy', here).pathname
    const output = execFileSync(join(folder, 'bin/vyper'), ['-f', 'bytecode_runtime,abi', ...more, path], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const [code, abi] = output.trim().split('\n')
    return compiled('store', `vyper ${version} ${optimize}`.trim(), code!, JSON.parse(abi!))
  })
}

interface SolcOutput {
  errors?: { severity: string; formattedMessage: string }[]
  contracts: Record<string, Record<string, { abi: Abi; evm: { deployedBytecode: { object: string } } }>>
}

/** Installs the packages aside and renames the folder, so that a fetch cut short is not taken for a whole one. */
const fetchPackages = (): string => {
  const folder = join(tmpdir(), 'chainsieve-contracts')
  if (!existsSync(folder)) {
    const partial = `${folder}.partial`
    rmSync(partial, { recursive: true, force: true })
    mkdirSync(partial)
    writeFileSync(join(partial, 'package.json'), '{"private":true}')
    execFileSync('npm', ['install', '--save-exact', '--ignore-scripts', '--no-audit', '--no-fund', ...NPM], {
      cwd: partial,
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    renameSync(partial, folder)
  }
  return join(folder, 'node_modules')
}

main()
