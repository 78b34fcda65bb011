// Package aggregate answers: what is the value of an aggregate or window function over rows?
//
// One file for each kind of state; eval declares what a state is (AggImpl, WindowImpl), exec groups and runs them.
package aggregate

// Register declares aggregates and window functions in eval's table. It is called once, by eval/library.
func Register() {
	registerApprox()
	registerBits()
	registerCollect()
	registerCount()
	registerExtreme()
	registerOrderedSet()
	registerRegression()
	registerSum()
	registerText()
	registerVariance()
	registerWinRank()
	registerWinValue()
}
