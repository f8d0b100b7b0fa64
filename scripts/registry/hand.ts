/**
 * Signatures that no package declares, or that must not depend on what packages happen to say. Each replaces whatever was
 * found for its topic and number of indexed arguments. The hashes were seen on chain and are compared when building, so
 * that a slip of the pen is noticed.
 */
export const handEvents: readonly (readonly [topic0: string, signature: string])[] = [
  // Tokens. Old contracts index nothing, CryptoKitties among them.
  [
    '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
    'Transfer(address indexed from, address indexed to, uint256 value)',
  ],
  [
    '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
    'Transfer(address indexed from, address indexed to, uint256 indexed tokenId)',
  ],
  [
    '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
    'Transfer(address from, address to, uint256 tokenId)',
  ],
  [
    '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925',
    'Approval(address indexed owner, address indexed spender, uint256 value)',
  ],
  [
    '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925',
    'Approval(address indexed owner, address indexed approved, uint256 indexed tokenId)',
  ],
  [
    '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925',
    'Approval(address owner, address approved, uint256 tokenId)',
  ],
  // Wrapped ether.
  ['0xe1fffcc4923d04b559f4d29a8bfc6cda04eb5b0d3c460751c2402c5c5cc9109c', 'Deposit(address indexed dst, uint256 wad)'],
  [
    '0x7fcf532c15f0a6db0bd6d0e038bea71d30d808c7d98cb3bf7268a95bf5081b65',
    'Withdrawal(address indexed src, uint256 wad)',
  ],
  // Uniswap v3.
  [
    '0xc42079f94a6350d7e6235f29174924f928cc2ac818eb64fed8004e115fbcca67',
    'Swap(address indexed sender, address indexed recipient, int256 amount0, int256 amount1, uint160 sqrtPriceX96, uint128 liquidity, int24 tick)',
  ],
  // The beacon chain's deposit contract.
  [
    '0x649bbc62d0e31342afea4e5cd82d4049e7e1ee912fc0889aa790803be39038c5',
    'DepositEvent(bytes pubkey, bytes withdrawal_credentials, bytes amount, bytes signature, bytes index)',
  ],
  // Kyber's aggregator.
  [
    '0xddac40937f35385a34f721af292e5a83fc5b840f722bff57c2fc71adba708c48',
    'Exchange(address pair, uint256 amountOut, address output)',
  ],
  [
    '0xd6d4f5681c246c9f42c203e287975af1601f8df8035a9251f79aab5c8f09e2f8',
    'Swapped(address sender, address srcToken, address dstToken, address dstReceiver, uint256 spentAmount, uint256 returnAmount)',
  ],
  ['0x095e66fa4dd6a6f7b43fb8444a7bd0edb870508c7abf639bc216efb0bcff9779', 'ClientData(bytes clientData)'],
  [
    '0x4c39b7ce5f4f514f45cb6f82b171b8b0b7f2cbf488ad28e4eff451588e2f014b',
    'Fee(address token, uint256 totalAmount, uint256 totalFee, address[] recipients, uint256[] amounts, bool isBps)',
  ],
  // Lido's vault for execution layer rewards.
  ['0x27f12abfe35860a9a927b465bb3d4a9c23c8428174b83f278fe45ed7b4da2662', 'ETHReceived(uint256 amount)'],
  // MetaMask Swaps.
  [
    '0xbeee1e6e7fe307ddcf84b0a16137a4430ad5e2480fc4f4a8e250ab56ccd7630d',
    'Swap(string indexed aggregatorId, address indexed sender)',
  ],
  // OpenSea's SeaDrop.
  [
    '0xe90cf9cc0a552cf52ea6ff74ece0f1c8ae8cc9ad630d3181f55ac43ca076b7d6',
    'SeaDropMint(address indexed nftContract, address indexed minter, address indexed feeRecipient, address payer, uint256 quantityMinted, uint256 unitMintPrice, uint256 feeBps, uint256 dropStageIndex)',
  ],
  // Names of the Ethereum Name Service.
  [
    '0x3da24c024582931cfaf8267d8ed24d13a82a8068d5bd337d30ec45cea4e506ae',
    'NameRenewed(string name, bytes32 indexed label, uint256 cost, uint256 expires)',
  ],
  [
    '0x9b87a00e30f1ac65d898f070f8a3488fe60517182d0a2098e1b4b93a54aa9bd6',
    'NameRenewed(uint256 indexed id, uint256 expires)',
  ],
  [
    '0x69e37f151eb98a09618ddaa80c8cfaf1ce5996867c489f45b555b412271ebf27',
    'NameRegistered(string name, bytes32 indexed label, address indexed owner, uint256 baseCost, uint256 premium, uint256 expires)',
  ],
  // Staked NFTs.
  [
    '0x02567b2553aeb44e4ddd5d68462774dc3de158cb0f2c2da1740e729b22086aff',
    'Stake(uint256 tokenId, address by, uint256 stakedAt)',
  ],
  // OKX's router.
  [
    '0x1bb43f2da90e35f7b0cf38521ca95a49e68eb42fac49924930a5bd73cdf7576c',
    'OrderRecord(address fromToken, address toToken, address sender, uint256 fromAmount, uint256 returnAmount)',
  ],
  ['0x7724394874fdd8ad13292ec739b441f85c6559f10dc4141b8d4c0fa4cbf55bdb', 'SwapOrderId(uint256 id)'],
  // CoW Protocol's settlement.
  [
    '0xa07a543ab8a018198e99ca0184c93fe9050a79400a0a723441f84de1d972cc17',
    'Trade(address indexed owner, address sellToken, address buyToken, uint256 sellAmount, uint256 buyAmount, uint256 feeAmount, bytes orderUid)',
  ],
  ['0x40338ce1a7c49204f0099533b1e9a7ee0a3d261f84974ab7af36105b8c4e9db4', 'Settlement(address indexed solver)'],
  [
    '0xed99827efb37016f2275f98c4bcf71c7551c75d59e9b450f79fa32e60be672c2',
    'Interaction(address indexed target, uint256 value, bytes4 selector)',
  ],
  // Tether.
  ['0xcb8241adb0c3fdb35b70c24ce35c5eb0c17af7431c99f827d44a445ca624176a', 'Issue(uint256 amount)'],
  ['0x702d5967f45f6513a38ffc42d6ba9bf230bd40e8f53b16363c7eb4fd2deb9a44', 'Redeem(uint256 amount)'],
  ['0x42e160154868087d6bfdc0ca23d96a1c1cfa32f1b72ba9ba27b69b98a0d819dc', 'AddedBlackList(address _user)'],
  ['0xd7e9ec6e6ecd65492dce6bf513cd6867560d49544421d0783ddf06e76c24470c', 'RemovedBlackList(address _user)'],
  [
    '0x61e6e66b0d6339b2980aecc6ccc0039736791f0ccde9ed512e789a7fbdd698c6',
    'DestroyedBlackFunds(address _blackListedUser, uint256 _balance)',
  ],
  // Chainlink's second off-chain reporting.
  [
    '0xc797025feeeaf2cd924c99e9205acb8ec04d5cad21c41ce637a38fb6dee6016a',
    'NewTransmission(uint32 indexed aggregatorRoundId, int192 answer, address transmitter, uint32 observationsTimestamp, int192[] observations, bytes observers, int192 juelsPerFeeCoin, bytes32 configDigest, uint40 epochAndRound)',
  ],
]

export const handFunctions: readonly (readonly [selector: string, signature: string])[] = [
  // Tokens.
  ['0xa9059cbb', 'transfer(address to, uint256 amount)'],
  ['0x23b872dd', 'transferFrom(address from, address to, uint256 amount)'],
  ['0x095ea7b3', 'approve(address spender, uint256 amount)'],
  ['0x70a08231', 'balanceOf(address account)'],
  // Kyber's aggregator.
  [
    '0xe21fd0e9',
    'swap((address callTarget, address approveTarget, bytes targetData, (address srcToken, address dstToken, address[] srcReceivers, uint256[] srcAmounts, address[] feeReceivers, uint256[] feeAmounts, address dstReceiver, uint256 amount, uint256 minReturnAmount, uint256 flags, bytes permit) desc, bytes clientData) execution)',
  ],
]
