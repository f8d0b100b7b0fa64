// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";

interface IFactory {
    function getPair(address a, address b) external view returns (address);
    function createPair(address a, address b) external returns (address);
}

interface IPair is IERC20 {
    function getReserves() external view returns (uint112, uint112, uint32);
    function mint(address to) external returns (uint256);
    function burn(address to) external returns (uint256, uint256);
    function swap(uint256 out0, uint256 out1, address to, bytes calldata data) external;
}

interface IWeth is IERC20 {
    function deposit() external payable;
    function withdraw(uint256 wad) external;
}

/// The few functions of a Uniswap v2 router that the demo needs, callable by the names and arguments that wallets know.
contract Router {
    IFactory public immutable factory;
    IWeth public immutable WETH;

    error Expired(uint256 deadline, uint256 time);
    error TooLittle(uint256 amount, uint256 least);
    error NoPair(address a, address b);

    constructor(IFactory factory_, IWeth weth) {
        factory = factory_;
        WETH = weth;
    }

    modifier until(uint256 deadline) {
        if (block.timestamp > deadline) revert Expired(deadline, block.timestamp);
        _;
    }

    receive() external payable {
        require(msg.sender == address(WETH), "router: no ether");
    }

    function addLiquidity(
        address a, address b, uint256 aDesired, uint256 bDesired, uint256 aMin, uint256 bMin, address to, uint256 deadline
    ) external until(deadline) returns (uint256 aAmount, uint256 bAmount, uint256 liquidity) {
        IPair pair = pairOrNew(a, b);
        (aAmount, bAmount) = fit(pair, a, b, aDesired, bDesired);
        if (aAmount < aMin) revert TooLittle(aAmount, aMin);
        if (bAmount < bMin) revert TooLittle(bAmount, bMin);
        IERC20(a).transferFrom(msg.sender, address(pair), aAmount);
        IERC20(b).transferFrom(msg.sender, address(pair), bAmount);
        liquidity = pair.mint(to);
    }

    function addLiquidityETH(
        address token, uint256 desired, uint256 tokenMin, uint256 ethMin, address to, uint256 deadline
    ) external payable until(deadline) returns (uint256 amount, uint256 ethAmount, uint256 liquidity) {
        IPair pair = pairOrNew(token, address(WETH));
        (amount, ethAmount) = fit(pair, token, address(WETH), desired, msg.value);
        if (amount < tokenMin) revert TooLittle(amount, tokenMin);
        if (ethAmount < ethMin) revert TooLittle(ethAmount, ethMin);
        IERC20(token).transferFrom(msg.sender, address(pair), amount);
        WETH.deposit{value: ethAmount}();
        WETH.transfer(address(pair), ethAmount);
        liquidity = pair.mint(to);
        if (msg.value > ethAmount) pay(msg.sender, msg.value - ethAmount);
    }

    function removeLiquidity(
        address a, address b, uint256 liquidity, uint256 aMin, uint256 bMin, address to, uint256 deadline
    ) public until(deadline) returns (uint256 aAmount, uint256 bAmount) {
        IPair pair = pairOf(a, b);
        pair.transferFrom(msg.sender, address(pair), liquidity);
        (uint256 out0, uint256 out1) = pair.burn(to);
        (aAmount, bAmount) = a < b ? (out0, out1) : (out1, out0);
        if (aAmount < aMin) revert TooLittle(aAmount, aMin);
        if (bAmount < bMin) revert TooLittle(bAmount, bMin);
    }

    function removeLiquidityETH(
        address token, uint256 liquidity, uint256 tokenMin, uint256 ethMin, address to, uint256 deadline
    ) external returns (uint256 amount, uint256 ethAmount) {
        (amount, ethAmount) =
            removeLiquidity(token, address(WETH), liquidity, tokenMin, ethMin, address(this), deadline);
        IERC20(token).transfer(to, amount);
        WETH.withdraw(ethAmount);
        pay(to, ethAmount);
    }

    function swapExactTokensForTokens(
        uint256 amountIn, uint256 outMin, address[] calldata path, address to, uint256 deadline
    ) external until(deadline) {
        IERC20(path[0]).transferFrom(msg.sender, address(pairOf(path[0], path[1])), amountIn);
        swap(amountIn, outMin, path, to);
    }

    function swapExactETHForTokens(uint256 outMin, address[] calldata path, address to, uint256 deadline)
        external
        payable
        until(deadline)
    {
        WETH.deposit{value: msg.value}();
        WETH.transfer(address(pairOf(path[0], path[1])), msg.value);
        swap(msg.value, outMin, path, to);
    }

    function swapExactTokensForETH(
        uint256 amountIn, uint256 outMin, address[] calldata path, address to, uint256 deadline
    ) external until(deadline) {
        IERC20(path[0]).transferFrom(msg.sender, address(pairOf(path[0], path[1])), amountIn);
        uint256 out = swap(amountIn, outMin, path, address(this));
        WETH.withdraw(out);
        pay(to, out);
    }

    /// The first pair of the path has its input already.
    function swap(uint256 amount, uint256 outMin, address[] calldata path, address to) private returns (uint256) {
        for (uint256 i = 0; i + 1 < path.length; i++) {
            IPair pair = pairOf(path[i], path[i + 1]);
            bool forward = path[i] < path[i + 1];
            amount = quote(pair, forward, amount);
            if (i + 2 == path.length && amount < outMin) revert TooLittle(amount, outMin);
            address next = i + 2 < path.length ? address(pairOf(path[i + 1], path[i + 2])) : to;
            pair.swap(forward ? 0 : amount, forward ? amount : 0, next, "");
        }
        return amount;
    }

    /// What the pair gives for an amount, its fee of 0.3 % taken off.
    function quote(IPair pair, bool forward, uint256 amount) private view returns (uint256) {
        (uint112 reserve0, uint112 reserve1,) = pair.getReserves();
        (uint256 reserveIn, uint256 reserveOut) = forward ? (reserve0, reserve1) : (reserve1, reserve0);
        uint256 withFee = amount * 997;
        return (withFee * reserveOut) / (reserveIn * 1000 + withFee);
    }

    /// The largest amounts within those desired that keep the price of the pair.
    function fit(IPair pair, address a, address b, uint256 aDesired, uint256 bDesired)
        private
        view
        returns (uint256, uint256)
    {
        (uint112 reserve0, uint112 reserve1,) = pair.getReserves();
        if (reserve0 == 0) return (aDesired, bDesired);
        (uint256 aReserve, uint256 bReserve) = a < b ? (reserve0, reserve1) : (reserve1, reserve0);
        uint256 bFit = (aDesired * bReserve) / aReserve;
        return bFit <= bDesired ? (aDesired, bFit) : ((bDesired * aReserve) / bReserve, bDesired);
    }

    function pairOrNew(address a, address b) private returns (IPair) {
        address pair = factory.getPair(a, b);
        return IPair(pair == address(0) ? factory.createPair(a, b) : pair);
    }

    function pairOf(address a, address b) private view returns (IPair) {
        address pair = factory.getPair(a, b);
        if (pair == address(0)) revert NoPair(a, b);
        return IPair(pair);
    }

    function pay(address to, uint256 amount) private {
        (bool ok,) = to.call{value: amount}("");
        require(ok, "router: receiver refused");
    }
}
